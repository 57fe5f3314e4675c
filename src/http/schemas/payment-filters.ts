import { Type } from 'typebox';
import {
  AMOUNT_RANGES,
  MAX_INT32,
  ORDER_FIELDS,
  ORDERS,
  STATUS_FILTERS,
} from '../../payments/search/search-parameters.ts';
import { UuidOfRecord } from '../../values/schemas.ts';
import { CURRENCY_ITEM, listParameter, Paging } from './schemas.ts';

const text = (description: string) => Type.Optional(Type.String({ description }));
const day = (description: string) =>
  Type.Optional(Type.String({ format: 'date', description: `${description}, included`, examples: ['2026-07-01'] }));

/** The filters of a search for payments, with its order and page (docs/search.md). */
export const PaymentFilters = {
  payment_ids: listParameter('Payment identifiers', '[^,]*[^,\\s][^,]*', 'PAY000001,PAY000002'),
  mass_payment_id: Type.Optional(UuidOfRecord('UUID of the related mass payment')),
  mass_payment_external_reference_id: text('External reference of the related mass payment'),
  payment_currency: listParameter('Currencies', CURRENCY_ITEM, 'EUR,USD'),
  amount: Type.Optional(
    Type.Integer({ minimum: -MAX_INT32 - 1, maximum: MAX_INT32, description: 'Requires amount_range' }),
  ),
  amount_range: Type.Optional(
    Type.Enum([...AMOUNT_RANGES], { description: 'Requires amount; `over` and `below` exclude the amount itself' }),
  ),
  ...Paging,
  order: Type.Optional(Type.Enum([...ORDERS], { default: 'asc', description: 'Direction' })),
  order_by: Type.Optional(
    Type.Enum([...ORDER_FIELDS], {
      default: 'order_date',
      description:
        'order_date: when the payment was created; value_date: its payment date. Ties keep the order of insertion',
    }),
  ),
  reference: text('Exact payment reference'),
  trade_id: text('Trade that the payment is allocated to'),
  beneficiary_id: text('Beneficiary of the payment'),
  from_payment_date: day('First payment date'),
  to_payment_date: day('Last payment date'),
  from_created_date: day('First Europe/London day of creation'),
  to_created_date: day('Last Europe/London day of creation'),
  status: Type.Optional(
    Type.Enum([...STATUS_FILTERS], {
      description:
        'pending: not in a final state; authorised: approved, in progress, not yet complete; pending_your_approval and ' +
        'pending_others_approval: pending of authorization, and the requesting contact may, or may not, authorise it now',
    }),
  ),
};
