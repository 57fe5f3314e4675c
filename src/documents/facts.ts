/**
 * The facts that documents show. Amounts and rates are decimal strings. Moments are ISO 8601 with the London offset
 * (`2026-07-01T10:15:00+01:00`), days are `YYYY-MM-DD`. A fact that is null is not printed.
 */

/** The client that owns the payment or trade. */
export interface ClientFacts {
  client_id: string;
  client_name: string;
  account_number: string | null;
}

export interface PersonFacts {
  contact_id: string;
  name: string;
}

export interface BeneficiaryFacts {
  beneficiary_id: string;
  name: string;
  iban: string | null;
  account_number: string | null;
  swift_code: string | null;
  bank_identifier: string | null;
  bank_name: string | null;
  address: string | null;
}

/** An approval or a rejection in the form of the payment (service interface, approvals_workflow). */
export interface AuthorisationFacts {
  contact_id: string;
  contact_name: string;
  level: number;
  /** 1 authorised, 2 rejected (docs/decisions.md, 4). */
  status: number;
  /** Moment. */
  date: string;
}

/** A payment, for its instruction and its receipt. */
export interface PaymentFacts {
  payment_id: string;
  /** The UETR. */
  uuid: string;
  reference: string | null;
  status: string;
  scheme: string | null;
  charges: string | null;
  amount: string;
  payment_currency: string;
  fee_amount: string | null;
  fee_currency: string | null;
  /** Day. */
  payment_date: string;
  /** Moments. */
  created_date: string;
  authorised_date: string | null;
  sent_date: string | null;
  completed_date: string | null;
  client: ClientFacts;
  ordered_by: PersonFacts;
  beneficiary: BeneficiaryFacts;
  trade_id: string | null;
  multipayment: string | null;
  approvals: {
    /** `simple`, `4-eyes` and so on, or the version of the ruleset; null if no approval was needed. */
    workflow: string | null;
    /** n_eyes_plus_status. */
    status: string | null;
    authorisations: AuthorisationFacts[];
  };
}

/** A trade, for its receipt. */
export interface TradeFacts {
  trade_id: string;
  parent_trade_id: string | null;
  status: string;
  /** `spot`, `forward`, `window_forward`, `drawdown`, `ndf`. */
  trade_type: string;
  reference: string | null;
  rate_symbol: string | null;
  rate: string | null;
  buy_currency: string;
  buy_amount: string;
  sell_currency: string;
  sell_amount: string;
  fee_amount: string | null;
  fee_currency: string | null;
  /** Day or moment. */
  order_date: string;
  maturity_date: string | null;
  client: ClientFacts;
  booked_by: PersonFacts | null;
  payments: {
    payment_id: string;
    beneficiary_name: string;
    payment_date: string;
    amount: string;
    payment_currency: string;
  }[];
  /** The number of further payments of the trade, which the list leaves out. */
  further_payments: number;
}
