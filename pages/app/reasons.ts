import type { BeneficiaryOrder } from '../../sdk/src/generated/api.ts';

/** The reasons for a payment, in the order of the API. */
export const REASONS = [
  'charitable_aid',
  'payment_for_goods',
  'capital_investment',
  'payment_for_services',
  'repatriation_of_goods',
  'repatriation_of_services',
  'property_purchase',
  'mortage_repayment',
  'property_rental_or_maintenance',
  'salary_payroll',
  'travel_costs',
  'living_costs',
  'repayment_of_loan',
  'balance_hedging',
  'repatriation_from_investment',
  'portfolio_netting',
  'not_related_to_goods_or_services',
  'other',
] as const satisfies readonly NonNullable<BeneficiaryOrder['reason_for_trade']>[];

/** The reasons for a trade that settles later than spot. */
export const FORWARD_REASONS: readonly (typeof REASONS)[number][] = REASONS.filter(
  (reason) => reason !== 'not_related_to_goods_or_services',
);
