// biome-ignore-all lint: made by `npm run sdk-types` from /openapi.json of the client API; do not edit

export interface Account {
  /** Account UUID */
  account_id: string;
  account_subtype: 'EMoney';
  account_type: 'Personal' | 'Business';
  /** Currency of the account */
  currency: string;
  status: 'Enabled' | 'Disabled' | 'Deleted';
  account_details: {
    /** Empty where it was not given */
    account_address: string;
    /** Empty where it was not given */
    account_name: string;
    /** Empty where it was not given */
    account_number: string;
    /** Empty where it was not given */
    account_number_type: string;
    /** Empty where it was not given */
    bank_identifier: string;
    /** Empty where it was not given */
    bank_identifier_type: string;
  }[];
}

export interface AccountDetails {
  account_details_id: string;
  account_id: string | null;
  account_details_type: 'dedicated' | 'pooled';
  currency: string;
  country: string;
  status: 'confirmed' | 'pending' | 'failed';
  financial_institution_name: string;
  account_holder_name: string;
  domestic: PaymentRoute | null;
  international: PaymentRoute | null;
  /** By which the institution knows whose money it is */
  reference_for_payment: string;
}

export interface ApprovalConfiguration {
  groups: {
    name: string;
    /** Kept as it was sent */
    scope: string;
    users: {
      id: string;
      name: string;
      email: string;
    }[];
  }[];
  ruleset: Ruleset | null;
}

export interface ApprovalConfigurationVersion {
  /** From 1 */
  version: number;
  /** With the London offset */
  created_date: string;
  /** As in the audit trail */
  created_by: string;
  contact_name: string | null;
}

export interface ApprovalDryRun {
  groups: {
    name: string;
    /** Kept as it was sent */
    scope: string;
    users: {
      id: string;
      name: string;
      email: string;
    }[];
  }[];
  ruleset: Ruleset;
  dry_run: true;
  payment_approvals_enabled: boolean;
  payment_creator_approval_enabled: boolean;
  /** For each group, its users who may authorise payments now */
  approvers: {
    group: string;
    users: {
      id: string;
      name: string;
      email: string;
    }[];
  }[];
  samples: {
    amount: number;
    currency: string;
    /** What one unit of the currency is in the currency of the ruleset */
    rate: number;
    converted_amount: number;
    rule: number | null;
    minimum_threshold: number | null;
    /** The least number of distinct people */
    minimum_authorisations: number;
    levels: {
      /** Alternatives, one of which is enough */
      one_of: {
        /** Groups, each of which needs one distinct person; a name that appears twice needs two */
        all_of: string[];
      }[];
    }[];
    /** Contacts whose approval could be the first */
    first_approvers: string[];
  }[];
}

export interface ApprovalExplanation {
  payment_id: string;
  /** The payment's status */
  status: string;
  /** What decided when the payment was created */
  governed_by: 'none' | 'eyes' | 'ruleset';
  n_eyes_plus_status: 'Pending approval' | 'Approved' | 'Rejected' | 'Cancelled';
  minimum_remaining_authorisations: number;
  /** Those who may authorise payments now are enough */
  can_be_completed: boolean;
  creator: {
    contact_id: string;
    contact_name: string;
    /** Counts as an approval where a group of the rule has the creator */
    creation_counts: boolean;
  };
  approvers_needed: number | null;
  rule: {
    /** Version of the configuration */
    version: number;
    /** Index into its `ruleset.rules` */
    index: number;
    minimum_threshold: number;
    currency: string;
    payment_amount: number;
    payment_currency: string;
    /** As it was when the payment was created */
    rate: number;
    converted_amount: number;
  } | null;
  levels: {
    level: number;
    met: boolean;
    one_of: {
      all_of: string[];
    }[];
    /** Index of the alternative that the fewest further people complete */
    alternative: number;
    /** Its places, and who fills them */
    places: {
      group: string | null;
      contact_id: string | null;
      contact_name: string | null;
    }[];
  }[];
  authorisations: {
    /** When the approval or rejection was received */
    date: string;
    /** 1 authorised, 2 rejected */
    status: number;
    contact_id: string;
    /** The level that it counts for, from 1 */
    level: number;
    contact_name: string;
    reason: string | null;
    on_behalf_by: string | null;
  }[];
  /** Who could act now */
  next: {
    contact_id: string;
    contact_name: string;
    actions: ('authorise' | 'reject')[];
  }[];
}

export interface ApprovalSettings {
  /** The workflow is enabled */
  payment_approvals_enabled: boolean;
  /** The creator-as-approver option is active */
  payment_creator_approval_enabled: boolean;
}

export interface Balance {
  /** The currency account */
  account_id: string;
  amount: BalanceAmount;
  /** Debit where it is below zero */
  credit_debit_indicator: 'Credit' | 'Debit';
  /** When it was read */
  datetime: string;
  /** InterimAvailable: all that is booked; Available: without what orders hold; RequiredFunds: what trades that sell the currency still need */
  type: 'InterimAvailable' | 'Available' | 'RequiredFunds';
}

export interface BalanceAmount {
  /** Without its sign */
  amount: number;
  currency: string;
}

export interface BankAccount {
  account_number: string | null;
  iban: string | null;
  swift_code: string | null;
  bank_identifier: string | null;
  bank_identifier_type: string | null;
  bank_name: string | null;
  bank_address_line_1: string | null;
  bank_address_line_2: string | null;
  bank_city: string | null;
  bank_post_code: string | null;
}

export interface Beneficiary {
  beneficiary_id: string | null;
  name: string;
  country_code: string | null;
  email_notification: boolean;
  email_addresses: string[];
  address_line_1: string | null;
  city: string | null;
  state_region: string | null;
  post_code: string | null;
  beneficiary_reference: string | null;
  reference_information: string | null;
  created: string | null;
  /** False once it is deleted */
  active: boolean;
  /** How far the institution is with it */
  aml_status: 'OK' | 'Pending Review' | 'Pending information' | 'Blocked';
  /** One account */
  bank_accounts: {
    account_id: number | null;
    bank_country_code: string | null;
    bank_currency_code: string | null;
    account_number: string | null;
    iban: string | null;
    bank_identifier: string | null;
    swift_code: string | null;
    correspondent_account: string | null;
    correspondent_swift_code: string | null;
    bank_name: string | null;
    bank_address_line_1: string | null;
    purpose_of_payment: string | null;
    reason_for_trade:
      | 'charitable_aid'
      | 'payment_for_goods'
      | 'capital_investment'
      | 'payment_for_services'
      | 'repatriation_of_goods'
      | 'repatriation_of_services'
      | 'property_purchase'
      | 'mortage_repayment'
      | 'property_rental_or_maintenance'
      | 'salary_payroll'
      | 'travel_costs'
      | 'living_costs'
      | 'repayment_of_loan'
      | 'balance_hedging'
      | 'repatriation_from_investment'
      | 'portfolio_netting'
      | 'not_related_to_goods_or_services'
      | 'other'
      | null;
  }[];
}

export interface BeneficiaryChange {
  /** At most 140 characters, without blanks around it */
  name?: string | null;
  /** Country of the beneficiary, ISO 3166-1 */
  country_code?: string | null;
  /** Country of the bank, ISO 3166-1 */
  bank_country_code?: string | null;
  /** Currency of the account, ISO 4217 */
  bank_currency_code?: string | null;
  account_number?: string | null;
  iban?: string | null;
  bank_identifier?: string | null;
  swift_code?: string | null;
  correspondent_account?: string | null;
  correspondent_swift_code?: string | null;
  bank_name?: string | null;
  bank_address_line_1?: string | null;
  address_line_1?: string | null;
  city?: string | null;
  state_region?: string | null;
  post_code?: string | null;
  purpose_of_payment?: string | null;
  reason_for_trade?:
    | 'charitable_aid'
    | 'payment_for_goods'
    | 'capital_investment'
    | 'payment_for_services'
    | 'repatriation_of_goods'
    | 'repatriation_of_services'
    | 'property_purchase'
    | 'mortage_repayment'
    | 'property_rental_or_maintenance'
    | 'salary_payroll'
    | 'travel_costs'
    | 'living_costs'
    | 'repayment_of_loan'
    | 'balance_hedging'
    | 'repatriation_from_investment'
    | 'portfolio_netting'
    | 'not_related_to_goods_or_services'
    | 'other'
    | null;
  email_notification?: boolean | null;
  email_addresses?: string[] | null;
  beneficiary_reference?: string | null;
  reference_information?: string | null;
}

export interface BeneficiaryNeeds {
  /** Country of the bank */
  country: string;
  /** Some currency needs reason_for_trade */
  reason_required: boolean;
  currencies: {
    /** A currency; `default`: those that have no entry */
    currency: string;
    /** Lists, of which one is needed */
    mandatory_data: string[][];
    /** Fields that may be given */
    optional_data: string[];
  }[];
}

export interface BeneficiaryNotification {
  data: Beneficiary[];
}

export interface BeneficiaryOrder {
  /** At most 140 characters, without blanks around it */
  name: string;
  /** Country of the beneficiary, ISO 3166-1 */
  country_code: string;
  /** Country of the bank, ISO 3166-1 */
  bank_country_code: string;
  /** Currency of the account, ISO 4217 */
  bank_currency_code: string;
  /** Account number; blanks and hyphens do not count */
  account_number?: string | null;
  /** IBAN, of the country of the bank; blanks and hyphens do not count */
  iban?: string | null;
  /** Sort code, ABA, BSB, IFSC or what the country has; blanks and hyphens do not count */
  bank_identifier?: string | null;
  /** BIC, of the country of the bank; blanks and hyphens do not count */
  swift_code?: string | null;
  /** Account of the bank at its correspondent; blanks and hyphens do not count */
  correspondent_account?: string | null;
  /** BIC of the correspondent; blanks and hyphens do not count */
  correspondent_swift_code?: string | null;
  /** Name of the bank */
  bank_name?: string | null;
  /** Address of the bank */
  bank_address_line_1?: string | null;
  /** Street and number */
  address_line_1?: string | null;
  /** City */
  city?: string | null;
  /** State or region */
  state_region?: string | null;
  /** Post code */
  post_code?: string | null;
  /** Purpose of the payments to it */
  purpose_of_payment?: string | null;
  /** Why it is paid */
  reason_for_trade?:
    | 'charitable_aid'
    | 'payment_for_goods'
    | 'capital_investment'
    | 'payment_for_services'
    | 'repatriation_of_goods'
    | 'repatriation_of_services'
    | 'property_purchase'
    | 'mortage_repayment'
    | 'property_rental_or_maintenance'
    | 'salary_payroll'
    | 'travel_costs'
    | 'living_costs'
    | 'repayment_of_loan'
    | 'balance_hedging'
    | 'repatriation_from_investment'
    | 'portfolio_netting'
    | 'not_related_to_goods_or_services'
    | 'other'
    | null;
  /** The institution mails when it pays; needs an address */
  email_notification?: boolean | null;
  email_addresses?: string[] | null;
  /** What the client calls it */
  beneficiary_reference?: string | null;
  /** What else is to be known */
  reference_information?: string | null;
}

export type BeneficiaryOrders = BeneficiaryOrder[];

export interface BeneficiarySearch {
  /** Exact, without case */
  name?: string | null;
  /** Account number; blanks and hyphens do not count */
  account_number?: string | null;
  /** IBAN, of the country of the bank; blanks and hyphens do not count */
  iban?: string | null;
  /** Sort code, ABA, BSB, IFSC or what the country has; blanks and hyphens do not count */
  bank_identifier?: string | null;
}

export interface BookedTrade {
  trade_id: string;
  bank_account: BankAccount | null;
  /** When the sell amount is due */
  maturity_date: string;
  /** By which the institution knows what is paid for */
  reference_for_payment: string;
}

export interface Challenge {
  /** To be sent with the approval */
  challenge_id: string;
  /** Where the code comes from */
  second_factor: 'totp' | 'sms';
  /** Until when the challenge is good */
  expires_at: string;
}

export interface ChallengeForMany {
  /** Each once */
  payment_ids: string[];
}

export interface ClientTransaction {
  client_id: string;
  transaction_type: 'credit' | 'debit' | 'incoming' | 'margin' | 'payment_returned';
  payment_id: string | null;
  trade_id: string | null;
  transaction_id: string;
  /** The currency account */
  account_id: string;
  transaction_reference: string | null;
  transaction_information: string | null;
  additional_transaction_information: string | null;
  amount: Money;
  /** The balance of the account after the booking */
  balance: {
    amount: Money;
    type: 'InterimAvailable';
    credit_debit_indicator: 'Credit' | 'Debit';
  };
  credit_debit_indicator: 'Credit' | 'Debit';
  status: 'Booked';
  /** When it was booked */
  booking_datetime: string;
  /** Its value date */
  value_datetime: string;
  creditor_name: string | null;
  creditor_account: Party | null;
  debtor_name: string | null;
  debtor_account: Party | null;
}

export interface Contact {
  contact_id: string;
  name: string;
  email_address: string;
  language: string | null;
  can_authorise_payments: boolean;
  can_manage_payments: boolean;
  can_manage_multipayments: boolean;
  can_manage_permissions: boolean;
  can_manage_webhooks: boolean;
  can_manage_beneficiaries: boolean;
  can_create_payments: boolean;
  can_trade: boolean;
}

export interface Currency {
  currency: string;
  /** FX is enabled for the client, and it may buy or sell the currency */
  available_for_trading: boolean;
  buy_allowed: boolean;
  sell_allowed: boolean;
  /** Digits after the point of an amount */
  decimals: number;
  cutoff: Cutoff;
  /** A year ahead, without weekends */
  holidays: string[];
  /** It is offered first */
  default: boolean;
}

export interface CurrencyAccount {
  account_id: number;
  currency: string;
}

export interface Cutoff {
  /** Business days until a spot is due */
  day: number;
  time: string | null;
}

export interface DecidedPayment {
  payment_id: string;
  /** The approval or rejection counts */
  done: boolean;
  code: string | null;
  message: string | null;
  details: string | null;
}

export interface DrawdownOrder {
  /** Amount of the bought currency */
  buy_amount: number;
  /** Why; not_related_to_goods_or_services is for a spot only */
  reason:
    | 'charitable_aid'
    | 'payment_for_goods'
    | 'capital_investment'
    | 'payment_for_services'
    | 'repatriation_of_goods'
    | 'repatriation_of_services'
    | 'property_purchase'
    | 'mortage_repayment'
    | 'property_rental_or_maintenance'
    | 'salary_payroll'
    | 'travel_costs'
    | 'living_costs'
    | 'repayment_of_loan'
    | 'balance_hedging'
    | 'repatriation_from_investment'
    | 'portfolio_netting'
    | 'not_related_to_goods_or_services'
    | 'other';
  /** Day on which it settles; default: as early as possible, YYYY-MM-DD */
  value_date?: string | null;
  /** Shown with the trade */
  reference?: string | null;
  /** The client's own identifier; no two of its trades have the same */
  external_reference_id?: string | null;
  /** Number of a currency account, which holds the sell amount until it is debited */
  funding_account_id?: number | null;
}

export interface ErrorMessage {
  /** Error code: one of the list, or one that a later version adds */
  code:
    | 'invalid_parameter'
    | 'missing_parameter'
    | 'invalid_body'
    | 'malformed_request'
    | 'request_timeout'
    | 'expectation_failed'
    | 'headers_too_large'
    | 'unsupported_media_type'
    | 'payload_too_large'
    | 'authentication_failed'
    | 'token_expired'
    | 'contact_mismatch'
    | 'permission_denied'
    | 'client_disabled'
    | 'client_not_found'
    | 'contact_not_found'
    | 'application_not_found'
    | 'beneficiary_not_found'
    | 'trade_not_found'
    | 'payment_not_found'
    | 'account_not_found'
    | 'transaction_not_found'
    | 'currency_account_not_found'
    | 'multipayment_not_found'
    | 'document_not_found'
    | 'mass_beneficiary_not_found'
    | 'subscription_not_found'
    | 'consumer_not_found'
    | 'notification_not_found'
    | 'operator_token_not_found'
    | 'onboarding_event_not_found'
    | 'statement_not_found'
    | 'quote_not_found'
    | 'mass_payment_not_found'
    | 'payment_initiation_not_found'
    | 'bank_account_not_found'
    | 'account_details_not_found'
    | 'hold_not_found'
    | 'import_not_found'
    | 'erasure_not_found'
    | 'contact_not_disabled'
    | 'already_exists'
    | 'already_rejected'
    | 'second_factor_missing'
    | 'step_up_required'
    | 'step_up_failed'
    | 'challenge_expired'
    | 'transition_not_allowed'
    | 'insufficient_funds'
    | 'trade_amount_exceeded'
    | 'trade_not_open'
    | 'currency_mismatch'
    | 'currency_not_allowed'
    | 'limit_exceeded'
    | 'amount_out_of_range'
    | 'rate_moved'
    | 'version_mismatch'
    | 'beneficiary_blocked'
    | 'beneficiary_duplicate'
    | 'beneficiary_in_use'
    | 'quote_expired'
    | 'quote_used'
    | 'fx_closed'
    | 'exchange_rate_stale'
    | 'payments_invalid'
    | 'cursor_behind'
    | 'cursor_expired'
    | 'approval_not_allowed'
    | 'ruleset_unsatisfiable'
    | 'exchange_rate_missing'
    | 'fx_not_enabled'
    | 'statement_push_not_configured'
    | 'statement_period_too_long'
    | 'idempotency_conflict'
    | 'rate_limited'
    | 'not_found'
    | 'method_not_allowed'
    | 'certificate_invalid'
    | 'certificate_missing'
    | 'https_required'
    | 'interrupted'
    | 'integration_error'
    | (string & {});
  /** Short description of the cause */
  message: string;
  /** The field, and what it must be */
  details: string;
}

export interface Estimate {
  quoted_rate: null;
  quoted_rate_symbol: null;
  /** Bought units for one sold */
  estimated_rate: number;
  /** Pair, sold currency first */
  estimated_rate_symbol: string;
  /** Sold units for one bought */
  inverse_rate: number;
  /** Pair, bought currency first */
  inverse_rate_symbol: string;
  /** Amount that is bought */
  buy_amount: number;
  /** Currency that is bought */
  buy_currency: string;
  /** Amount that is sold */
  sell_amount: number;
  /** Currency that is sold */
  sell_currency: string;
  /** Fee */
  fee_amount: number;
  /** Currency of the fee */
  fee_currency: string;
  /** Day on which it settles */
  value_date: string;
  warning: string | null;
}

export interface FxAvailability {
  /** True if FX markets are available now */
  fx_available: boolean;
}

export interface GraphqlAnswer {
  data: unknown;
  errors?: {
    /** For developers */
    message: string;
    locations?: {
      line: number;
      column: number;
    }[];
    path?: (string | number)[];
  }[];
}

export interface GraphqlErrors {
  errors: {
    /** For developers */
    message: string;
    locations?: {
      line: number;
      column: number;
    }[];
    path?: (string | number)[];
  }[];
}

export interface GraphqlRequest {
  /** A GraphQL document */
  query: string;
  /** An object, or a text that holds one */
  variables?: Record<string, unknown> | string | null;
  operationName?: string | null;
}

export interface Instruction {
  /** Currency of the payment, ISO 4217 */
  payment_currency: string;
  /** Amount, with the decimals of its currency */
  payment_amount: number;
  /** What the payee reads; no control characters */
  payment_reference: string;
  /** The currency of the payment is bought */
  direction: 'buy';
  trade_type: 'spot';
  /** When it is to be paid; a past or closed day moves; default: as early as possible, YYYY-MM-DD */
  value_date?: string;
  /** The client's own identifier */
  instruction_id?: string;
  /** Who is paid, alone; or the fields of a payee */
  beneficiary_id?: string;
  /** Name of the payee */
  beneficiary_name?: string;
  /** Country of the payee, ISO 3166-1 */
  beneficiary_country?: string;
  /** Country of its bank, ISO 3166-1 */
  bank_country?: string;
  /** Address, parted at its last comma into line and city */
  beneficiary_address?: string;
  /** City; with it the address is the line as it stands */
  beneficiary_city?: string;
  /** State or region */
  beneficiary_state?: string;
  /** Post code */
  beneficiary_post_code?: string;
  /** IBAN */
  iban?: string;
  /** Account number */
  account_number?: string;
  /** Sort code, ABA, BSB, IFSC or what the country has */
  bank_code?: string;
  /** BIC */
  swift_code?: string;
  /** Name of the bank */
  bank_name?: string;
  /** Purpose, for the bank of the payee */
  purpose_of_payment?: string;
  /** Why it is paid */
  reason_for_trade?:
    | 'charitable_aid'
    | 'payment_for_goods'
    | 'capital_investment'
    | 'payment_for_services'
    | 'repatriation_of_goods'
    | 'repatriation_of_services'
    | 'property_purchase'
    | 'mortage_repayment'
    | 'property_rental_or_maintenance'
    | 'salary_payroll'
    | 'travel_costs'
    | 'living_costs'
    | 'repayment_of_loan'
    | 'balance_hedging'
    | 'repatriation_from_investment'
    | 'portfolio_netting'
    | 'not_related_to_goods_or_services'
    | 'other';
}

export type Instructions = Instruction[];

export interface InvalidBody {
  /** Error code: one of the list, or one that a later version adds */
  code:
    | 'invalid_parameter'
    | 'missing_parameter'
    | 'invalid_body'
    | 'malformed_request'
    | 'request_timeout'
    | 'expectation_failed'
    | 'headers_too_large'
    | 'unsupported_media_type'
    | 'payload_too_large'
    | 'authentication_failed'
    | 'token_expired'
    | 'contact_mismatch'
    | 'permission_denied'
    | 'client_disabled'
    | 'client_not_found'
    | 'contact_not_found'
    | 'application_not_found'
    | 'beneficiary_not_found'
    | 'trade_not_found'
    | 'payment_not_found'
    | 'account_not_found'
    | 'transaction_not_found'
    | 'currency_account_not_found'
    | 'multipayment_not_found'
    | 'document_not_found'
    | 'mass_beneficiary_not_found'
    | 'subscription_not_found'
    | 'consumer_not_found'
    | 'notification_not_found'
    | 'operator_token_not_found'
    | 'onboarding_event_not_found'
    | 'statement_not_found'
    | 'quote_not_found'
    | 'mass_payment_not_found'
    | 'payment_initiation_not_found'
    | 'bank_account_not_found'
    | 'account_details_not_found'
    | 'hold_not_found'
    | 'import_not_found'
    | 'erasure_not_found'
    | 'contact_not_disabled'
    | 'already_exists'
    | 'already_rejected'
    | 'second_factor_missing'
    | 'step_up_required'
    | 'step_up_failed'
    | 'challenge_expired'
    | 'transition_not_allowed'
    | 'insufficient_funds'
    | 'trade_amount_exceeded'
    | 'trade_not_open'
    | 'currency_mismatch'
    | 'currency_not_allowed'
    | 'limit_exceeded'
    | 'amount_out_of_range'
    | 'rate_moved'
    | 'version_mismatch'
    | 'beneficiary_blocked'
    | 'beneficiary_duplicate'
    | 'beneficiary_in_use'
    | 'quote_expired'
    | 'quote_used'
    | 'fx_closed'
    | 'exchange_rate_stale'
    | 'payments_invalid'
    | 'cursor_behind'
    | 'cursor_expired'
    | 'approval_not_allowed'
    | 'ruleset_unsatisfiable'
    | 'exchange_rate_missing'
    | 'fx_not_enabled'
    | 'statement_push_not_configured'
    | 'statement_period_too_long'
    | 'idempotency_conflict'
    | 'rate_limited'
    | 'not_found'
    | 'method_not_allowed'
    | 'certificate_invalid'
    | 'certificate_missing'
    | 'https_required'
    | 'interrupted'
    | 'integration_error'
    | (string & {});
  /** Short description of the cause */
  message: string;
  /** The field, and what it must be */
  details: string;
  /** All faults, at most 1,000, in the order of the elements. A body that is not an object has none */
  errors?: {
    /** What is wrong */
    code: string;
    /** Short description of the cause */
    message: string;
    /** The field, and what it must be; never a bank detail */
    details: string;
    request_index: number | null;
  }[];
}

/** An instruction that cannot be done: its fields as they were sent, beside errors and request_index */
export interface InvalidInstruction {
  errors: {
    /** What is wrong */
    code: string;
    /** Short description of the cause */
    message: string;
    /** The field, and what it must be; never a bank detail */
    details: string;
  }[];
  /** Its place in what was sent, from 0 */
  request_index: number;
}

export interface LoggedRequest {
  /** When it arrived */
  at: string;
  method: string;
  /** With its query */
  path: string;
  status: number;
  code: string | null;
  details: string | null;
  /** Milliseconds until the answer */
  ms: number;
  /** The header x-request-id of the answer */
  request_id: string;
  /** The application that the token was issued to */
  application: string;
  request_body: string | null;
  response_body: string | null;
  /** Query parameters that the operation does not know, as in the header x-ignored-parameters */
  ignored_parameters: string[];
}

export interface MassBeneficiary {
  mass_beneficiary_id: string;
  status: 'queued' | 'processing' | 'created' | 'failed';
  rows_received: number | null;
  rows_created: number | null;
  /** Beneficiaries that could not be made, each once */
  rows_errored: number;
}

export interface MassBeneficiaryError {
  code: string;
  message: string;
  details: string;
  /** Place of the beneficiary in the instruction */
  request_index: number;
}

export interface MassBeneficiaryMade {
  /** Place of the beneficiary in the instruction */
  request_index: number;
  /** The beneficiary that was made */
  beneficiary_id: string;
}

export interface MassBeneficiaryNotification {
  data: MassBeneficiary[];
}

export interface MassPayment {
  mass_payment_id: string;
  /** The client's own identifier */
  external_reference_id: string;
  error: MassPaymentError | null;
  mass_payment_status:
    | 'Queued for processing'
    | 'Processing'
    | 'Processed'
    | 'Queued for creating'
    | 'Creating'
    | 'Created'
    | 'Cancelled'
    | 'Failed';
  sell_currency: string | null;
  sell_amount: number | null;
  estimated_at: string | null;
  /** Trades, those of single payments too */
  trades_created: number;
  /** Payees that would be made, or were */
  new_beneficiaries: number;
  payment_initiation_id: string | null;
  payment_information_id: string | null;
  /** The contact in whose name its payments are made */
  created_by: string;
  created_at: string;
  payments_summary: MassPaymentSummary;
  sums: MassPaymentSum[];
}

export interface MassPaymentConfirmation {
  /** What the exchanges may cost; default: any price */
  maximum_sell_amount?: number | null;
  /** Where the client asks for a code */
  challenge_id?: string | null;
  /** The code from the text message or the authenticator */
  verification_code?: string | null;
}

export interface MassPaymentError {
  code: string;
  message: string;
  details: string;
}

export interface MassPaymentNotification {
  data: MassPayment[];
}

export interface MassPaymentOrder {
  /** The client's own identifier, 1 to 64 characters from the blank to ~; no two files ever have the same */
  external_reference_id: string;
  /** Goes on by itself where no row is bad */
  auto_commit: boolean;
  /** What is sold for the currencies that are paid; or trade_id */
  sell_currency?: string | null;
  /** The trade that all are paid from */
  trade_id?: string | null;
  /** Number of a currency account in the sell currency */
  funding_account_id?: number | null;
  /** Why; required with funding_account_id; default: other */
  reason?:
    | 'charitable_aid'
    | 'payment_for_goods'
    | 'capital_investment'
    | 'payment_for_services'
    | 'repatriation_of_goods'
    | 'repatriation_of_services'
    | 'property_purchase'
    | 'mortage_repayment'
    | 'property_rental_or_maintenance'
    | 'salary_payroll'
    | 'travel_costs'
    | 'living_costs'
    | 'repayment_of_loan'
    | 'balance_hedging'
    | 'repatriation_from_investment'
    | 'portfolio_netting'
    | 'not_related_to_goods_or_services'
    | 'other'
    | null;
  /** What the exchanges may cost, for auto_commit */
  maximum_sell_amount?: number | null;
  payment_instructions: Instruction[];
}

export interface MassPaymentSum {
  currency: string;
  /** Sum of the valid instructions */
  amount: number;
  /** How many */
  payments: number;
}

export interface MassPaymentSummary {
  /** Instructions */
  payments_received: number;
  /** Judged */
  payments_processed: number;
  /** That cannot be done */
  payments_errored: number;
  /** Payments that were made */
  payments_created: number;
}

export interface Money {
  /** A decimal */
  amount: string;
  currency: string;
}

export interface MultipaymentPayment {
  payment_id: string | null;
  /** The place of its instruction, from 0 */
  request_index: number;
  status:
    | 'Need more beneficiary information'
    | 'Validating beneficiary information'
    | 'Waiting for payment date'
    | 'Payment complete'
    | 'Executing Payment'
    | 'Payment pending of authorization'
    | 'Payment rejected'
    | 'Payment cancelled';
}

export interface MultipaymentRejection {
  /** Why; the payment, its timeline and the audit trail show it */
  reason?: string;
}

export interface MultipaymentTrade {
  trade_id: string | null;
  buy_amount: number;
  buy_currency: string;
  sell_amount: number;
  sell_currency: string;
  /** Bought units for one sold */
  client_rate: number;
  /** The sold currency, then the bought one */
  client_rate_symbol: string;
  value_date: string;
}

export interface OnboardingEvent {
  type: string;
  links: {
    self: string;
  };
  id: string;
  attributes: {
    OnboardingStatus: string;
    AccountNumber: string | null;
    ServiceId: string;
    BecameClient: string | null;
  };
}

export interface OnboardingNotification {
  data: OnboardingEvent[];
}

export interface OrderedMultipayment {
  multipayment_id: number | null;
  multipayment: string | null;
  multipayment_unique_id: string | null;
  /** The trades that were booked */
  trade_details: MultipaymentTrade[];
  payments: MultipaymentPayment[];
  invalid_payments: InvalidInstruction[];
}

export interface OrderedPayment {
  payment_id: string | null;
  trade_id: string | null;
  beneficiary_id: string;
  status:
    | 'Need more beneficiary information'
    | 'Validating beneficiary information'
    | 'Waiting for payment date'
    | 'Payment complete'
    | 'Executing Payment'
    | 'Payment pending of authorization'
    | 'Payment rejected'
    | 'Payment cancelled';
  amount: number;
  payment_currency: string;
  /** The day on which it is to be paid */
  payment_date: string;
  reference: string;
  scheme:
    | 'SWIFT'
    | 'SEPA'
    | 'SEPA_INSTANT'
    | 'FPS'
    | 'BACS'
    | 'CHAPS'
    | 'ACH'
    | 'FEDWIRE'
    | 'TARGET2'
    | 'LOCAL'
    | 'INTERNAL';
  charges: string;
  uuid: string | null;
  fee_amount: number | null;
  fee_currency: string | null;
  payment_instruction: string | null;
  payment_receipt: string | null;
  warning: string | null;
}

export interface OrderedPaymentInput {
  /** Who is paid */
  beneficiary_id: string;
  /** Its bank account; it has one */
  account_id?: number | null;
  /** In the buy currency of the trade, else in the currency of the account */
  amount: number;
  /** The day on which it is to be paid; an earlier or closed one moves to the next possible one, YYYY-MM-DD */
  payment_date: string;
  /** What the payee reads; no control characters */
  reference: string;
  /** Who pays the charges; default: SHA */
  charges?: 'SHA' | 'OUR' | null;
  /** For the bank of the payee; default: that of the beneficiary */
  purpose_of_payment?: string | null;
  /** Passed on to the institution */
  email_beneficiary?: boolean | null;
}

export interface OwnClient {
  client_id: string;
  client_name: string;
  status: 'Active' | 'Blocked';
  /** What the contact may do for it */
  permissions: (
    | 'can_authorise_payments'
    | 'can_manage_payments'
    | 'can_manage_multipayments'
    | 'can_manage_permissions'
    | 'can_manage_webhooks'
    | 'can_manage_beneficiaries'
    | 'can_create_payments'
    | 'can_trade'
  )[];
}

export interface Party {
  account_name: string | null;
  account_number: string | null;
  bank_identifier: string | null;
  bank_identifier_code: string | null;
  iban: string | null;
  swift: string | null;
}

export interface Payment {
  /** Unique identifier of the payment */
  payment_id: string;
  /** Contact who booked the payment */
  contact_id: string;
  /** Trade the payment is allocated to */
  trade_id: string;
  /** Internal identifier; the UETR of SWIFT payments */
  uuid: string;
  /** The uuid can be used for SWIFT tracking now */
  is_uuid_used_for_tracking: boolean;
  /** Payment amount, exactly as it is stored */
  amount: number;
  /** Currency of the payment */
  payment_currency: string;
  fee_amount: number | null;
  fee_currency: string | null;
  reference: string | null;
  status:
    | 'Need more beneficiary information'
    | 'Validating beneficiary information'
    | 'Waiting for payment date'
    | 'Payment complete'
    | 'Executing Payment'
    | 'Payment pending of authorization'
    | 'Payment rejected'
    | 'Payment cancelled';
  charges: string | null;
  /** Whether the payment requires an invoice */
  invoice_required: boolean;
  /** Name of who made the order */
  ordered_by_name: string;
  /** When it was created, with the London offset */
  created_date: string;
  /** Target payment date */
  payment_date: string;
  authorised_by: string | null;
  authorised_date: string | null;
  cancelled_by: string | null;
  cancelled_date: string | null;
  rejected_by: string | null;
  rejected_date: string | null;
  /** Why a person rejected or cancelled it, in their words; only where they said so */
  reason?: string;
  authorisation_workflow: 'simple' | '4-eyes' | '6-eyes' | '8-eyes' | '10-eyes';
  approvals_workflow: {
    authorisations: {
      /** When the approval or rejection was received */
      date: string;
      /** 1 authorised, 2 rejected */
      status: number;
      contact_id: string;
      /** The level that it counts for, from 1 */
      level: number;
      contact_name: string;
      reason: string | null;
      on_behalf_by: string | null;
    }[];
    contact_authorisation_actions: {
      /** What the requesting contact may do now */
      allowed: ('authorise' | 'reject' | 'cancel')[];
      executed: 'authorise' | 'reject' | 'cancel' | null;
    };
    n_eyes_plus_status: 'Pending approval' | 'Approved' | 'Rejected' | 'Cancelled';
    /** Authorisations still needed at least */
    minimum_remaining_authorisations: number;
  };
  beneficiary_name: string | null;
  /** Beneficiary identifier */
  beneficiary_id: string;
  beneficiary_aml_id: string | null;
  beneficiary_active: boolean | null;
  beneficiary_authorised: boolean | null;
  beneficiary_blocked: boolean | null;
  beneficiary_completed: boolean | null;
  beneficiary_verified: boolean | null;
  account_number: string | null;
  iban: string | null;
  bank_identifier: string | null;
  swift_code: string | null;
  multipayment: string | null;
  multipayment_id: string | null;
  multipayment_unique_id: string | null;
  /** Location of the payment instruction */
  payment_instruction: string;
  payment_receipt: string | null;
}

export interface PaymentCancellation {
  /** Why; the payment, its timeline and the audit trail show it */
  reason?: string;
}

export interface PaymentDecision {
  /** Why; the payment, its timeline and the audit trail show it */
  reason?: string;
  /** To approve where the client asks for a code: the challenge */
  challenge_id?: string;
  /** The code from the text message or the authenticator */
  verification_code?: string;
  /** Required by provide_information, and taken by nothing else */
  information?: string | null;
}

export interface PaymentDecisions {
  /** Each once */
  payment_ids: string[];
  /** Why; each payment, its timeline and the audit trail show it */
  reason?: string | null;
  /** Where the client asks for a code: the challenge of these payments */
  challenge_id?: string | null;
  /** The code from the text message or the authenticator */
  verification_code?: string | null;
}

export interface PaymentNotification {
  data: Payment[];
  /** What happened to each payment, in the order of `data` */
  payment_webhook_status: (
    | 'CREATED'
    | 'PENDING_OF_AUTHORIZATION'
    | 'AUTHORIZED'
    | 'REJECTED'
    | 'CANCELLED'
    | 'SENT'
    | 'PENDING_RETURN'
    | 'RETURNED'
    | 'INVALIDATED'
  )[];
}

export interface PaymentOrder {
  /** The trade that is paid from */
  trade_id?: string | null;
  /** The number of the currency account that is paid from */
  funding_account_id?: number | null;
  /** An open quote that is booked with it; needs can_trade */
  quote_id?: string | null;
  /** Why it is paid; required with funding_account_id */
  reason?:
    | 'charitable_aid'
    | 'payment_for_goods'
    | 'capital_investment'
    | 'payment_for_services'
    | 'repatriation_of_goods'
    | 'repatriation_of_services'
    | 'property_purchase'
    | 'mortage_repayment'
    | 'property_rental_or_maintenance'
    | 'salary_payroll'
    | 'travel_costs'
    | 'living_costs'
    | 'repayment_of_loan'
    | 'balance_hedging'
    | 'repatriation_from_investment'
    | 'portfolio_netting'
    | 'not_related_to_goods_or_services'
    | 'other'
    | null;
  payments: OrderedPaymentInput[];
}

/** An account, for payments within its country, or from abroad */
export interface PaymentRoute {
  account_number: string;
  account_number_type: string | null;
  bank_identifier: string | null;
  bank_identifier_type: string | null;
}

/** JSON without a fixed shape */
export type Ping = Record<string, unknown>;

export interface Quote {
  /** Bought units for one sold */
  quoted_rate: number;
  /** Pair, sold currency first */
  quoted_rate_symbol: string;
  estimated_rate: null;
  estimated_rate_symbol: null;
  /** 32 hexadecimal digits */
  quote_id: string;
  /** Contact who asked for it */
  contact_id: string;
  trade_type: 'spot' | 'forward';
  /** Which side is fixed */
  operation: 'buy' | 'sell';
  /** Sold units for one bought */
  inverse_rate: number;
  /** Pair, bought currency first */
  inverse_rate_symbol: string;
  /** Amount that is bought */
  buy_amount: number;
  /** Currency that is bought */
  buy_currency: string;
  /** Amount that is sold */
  sell_amount: number;
  /** Currency that is sold */
  sell_currency: string;
  /** Fee */
  fee_amount: number;
  /** Currency of the fee */
  fee_currency: string;
  /** Day on which it settles */
  value_date: string;
  warning: string | null;
  /** When it was asked for */
  created_at: string;
  /** From when on it cannot be booked */
  expires_at: string;
  /** Where POST books it */
  book_trade: string;
}

export interface QuoteNow {
  /** Bought units for one sold */
  quoted_rate: number;
  /** Pair, sold currency first */
  quoted_rate_symbol: string;
  estimated_rate: null;
  estimated_rate_symbol: null;
  /** 32 hexadecimal digits */
  quote_id: string;
  /** Contact who asked for it */
  contact_id: string;
  trade_type: 'spot' | 'forward';
  /** Which side is fixed */
  operation: 'buy' | 'sell';
  /** Sold units for one bought */
  inverse_rate: number;
  /** Pair, bought currency first */
  inverse_rate_symbol: string;
  /** Amount that is bought */
  buy_amount: number;
  /** Currency that is bought */
  buy_currency: string;
  /** Amount that is sold */
  sell_amount: number;
  /** Currency that is sold */
  sell_currency: string;
  /** Fee */
  fee_amount: number;
  /** Currency of the fee */
  fee_currency: string;
  /** Day on which it settles */
  value_date: string;
  warning: string | null;
  /** When it was asked for */
  created_at: string;
  /** From when on it cannot be booked */
  expires_at: string;
  /** Where POST books it */
  book_trade: string;
  /** At the moment of the answer */
  status: 'open' | 'used' | 'expired';
  trade_id: string | null;
}

export interface QuoteOrder {
  /** Amount of the fixed side */
  amount: number;
  /** Which side is fixed */
  operation: 'buy' | 'sell';
  /** Currency that is bought */
  buy_currency: string;
  /** Currency that is sold */
  sell_currency: string;
  /** A forward settles on a later day than a spot */
  trade_type: 'spot' | 'forward';
  /** Day on which it settles; default: as early as possible, YYYY-MM-DD */
  value_date?: string | null;
}

/** An instruction as it was sent, beside what became of it */
export interface ReceivedInstruction {
  /** Its place in what was sent, from 0 */
  request_index: number;
  status: 'valid' | 'invalid' | 'created' | null;
  payment_id: string | null;
  beneficiary_id: string | null;
}

export interface Ruleset {
  /** Amounts are converted to it */
  currency: string;
  /** Thresholds, each once; below the lowest no approval is needed */
  rules: {
    /** Levels, all of which must be met */
    groups: {
      /** Alternatives, one of which is enough */
      one_of: {
        /** Groups, each of which needs one distinct person; a name that appears twice needs two */
        all_of: string[];
      }[];
    }[];
    /** The rule holds from this amount up to the next threshold */
    minimum_threshold: number;
  }[];
}

export interface SandboxAdvance {
  /** next: the next step of the ordinary course; or a payment status; or returned. Default: next */
  to?:
    | 'next'
    | 'Need more beneficiary information'
    | 'Validating beneficiary information'
    | 'Waiting for payment date'
    | 'Payment complete'
    | 'Executing Payment'
    | 'Payment pending of authorization'
    | 'Payment rejected'
    | 'Payment cancelled'
    | 'returned';
  /** Kept in the audit trail */
  reason?: string;
}

export interface SandboxExchangeRate {
  /** One unit of this currency ... */
  sell_currency: string;
  /** ... is worth so many of this one */
  buy_currency: string;
  /** Rate, read exactly */
  rate: number;
}

export interface SandboxExchangeRateSet {
  sell_currency: string;
  buy_currency: string;
  rate: number;
}

export interface SandboxPaymentInput {
  /** Amount, read exactly; default: 100.00 */
  amount?: number;
  /** ISO 4217 currency */
  payment_currency?: string;
  /** Target payment date; default: today, YYYY-MM-DD */
  payment_date?: string;
  /** Default: the newest beneficiary */
  beneficiary_id?: string;
  /** Default: the newest trade */
  trade_id?: string;
  /** Reference; some steer the autopilot */
  reference?: string;
  /** needed: another contact creates it, and the requesting contact can approve it; none: no approval is needed. Default: as the client's rules say */
  approval?: 'needed' | 'none';
}

export interface SandboxTradeAdvance {
  /** next: the next step of the ordinary course; or a trade status. Default: next */
  to?:
    | 'next'
    | 'Created'
    | 'Funds In Partially'
    | 'Funds In Full'
    | 'Funds Out Partially Allocated'
    | 'Funds Out Full Allocated'
    | 'Closed'
    | 'Cancelled'
    | 'Rejected'
    | null;
}

export interface SandboxTrigger {
  /** A WebhookType; PAYMENT_STATUS_CHANGE and TRADE_STATUS_CHANGE take a status after a colon */
  event:
    | 'PAYMENT_STATUS_CHANGE'
    | 'PAYMENT_STATUS_CHANGE:CREATED'
    | 'PAYMENT_STATUS_CHANGE:PENDING_OF_AUTHORIZATION'
    | 'PAYMENT_STATUS_CHANGE:AUTHORIZED'
    | 'PAYMENT_STATUS_CHANGE:REJECTED'
    | 'PAYMENT_STATUS_CHANGE:CANCELLED'
    | 'PAYMENT_STATUS_CHANGE:SENT'
    | 'PAYMENT_STATUS_CHANGE:PENDING_RETURN'
    | 'PAYMENT_STATUS_CHANGE:RETURNED'
    | 'PAYMENT_STATUS_CHANGE:INVALIDATED'
    | 'TRADE_STATUS_CHANGE'
    | 'TRADE_STATUS_CHANGE:Created'
    | 'TRADE_STATUS_CHANGE:Funds In Partially'
    | 'TRADE_STATUS_CHANGE:Funds In Full'
    | 'TRADE_STATUS_CHANGE:Funds Out Partially Allocated'
    | 'TRADE_STATUS_CHANGE:Funds Out Full Allocated'
    | 'TRADE_STATUS_CHANGE:Closed'
    | 'TRADE_STATUS_CHANGE:Cancelled'
    | 'TRADE_STATUS_CHANGE:Rejected'
    | 'CREDIT_INCOMING_TRANSACTION'
    | 'CREDIT_MARGIN_TRANSACTION'
    | 'CREDIT_PAYMENT_RETURNED_TRANSACTION'
    | 'CREDIT_TRANSACTION'
    | 'DEBIT_TRANSACTION'
    | 'ONBOARDING_STATUS_CHANGE'
    | 'BENEFICIARY_STATUS_CHANGE';
}

export interface StatementFileInput {
  /** Its London day is the first one; ISO 8601, in UTC without an offset */
  from_value_datetime: string;
  /** Its London day is the last one, included; default: now; ISO 8601, in UTC without an offset */
  to_value_datetime?: string | null;
}

export interface StatementFileProgress {
  status: 'queued' | 'running';
}

export interface StatementFileRequest {
  /** Where the file can be fetched, for 7 days */
  url: string;
}

export interface StatementInput {
  /** First day, a London day, YYYY-MM-DD */
  date_from: string;
  /** Last day, included, YYYY-MM-DD */
  date_to: string;
  /** pdf: one file with a section for each currency; csv and camt.053: a file for each currency */
  format?: 'pdf' | 'csv' | 'camt.053';
  /** ISO 4217 codes, comma-separated; default: every currency account */
  currencies?: string;
  /** How it is delivered; default: email */
  delivery?: 'push' | 'email' | 'both';
  /** Another name of delivery */
  delivery_method?: 'push' | 'email' | 'both';
}

export interface StatementRequest {
  id: string;
  /** queued: not begun; running: begun, or tried again after a failure; sent: all of it was accepted; failed */
  state: 'queued' | 'running' | 'sent' | 'failed';
  /** London time, ISO 8601 */
  requested_at: string;
  ended_at: string | null;
  format: 'pdf' | 'csv' | 'camt.053';
  /** First day */
  date_from: string;
  /** Last day, included */
  date_to: string;
  /** Of the accounts that it covers */
  currencies: string[];
  delivery: 'push' | 'email' | 'both' | 'file';
  /** The address of the mail, of the push, or of both with a comma between them */
  sent_to: string;
  reason: string | null;
}

export interface TakenMassBeneficiary {
  mass_beneficiary_id: string;
  status: 'queued' | 'processing' | 'created' | 'failed';
}

export interface TakenMassPayment {
  mass_payment_id: string;
  external_reference_id: string;
  mass_payment_status:
    | 'Queued for processing'
    | 'Processing'
    | 'Processed'
    | 'Queued for creating'
    | 'Creating'
    | 'Created'
    | 'Cancelled'
    | 'Failed';
}

export interface Trade {
  /** Unique identifier of the trade */
  trade_id: string;
  parent_trade_id: string | null;
  status:
    | 'Created'
    | 'Funds In Partially'
    | 'Funds In Full'
    | 'Funds Out Partially Allocated'
    | 'Funds Out Full Allocated'
    | 'Closed'
    | 'Cancelled'
    | 'Rejected';
  trade_type: 'spot' | 'forward' | 'window_forward' | 'drawdown' | 'ndf';
  /** Pair, sold currency first */
  rate_symbol: string;
  /** Units of the bought currency for one unit of the sold one */
  rate: number;
  /** Currency that is bought */
  buy_currency: string;
  /** Currency that is sold */
  sell_currency: string;
  /** Amount that is bought */
  buy_amount: number;
  /** Amount that is sold */
  sell_amount: number;
  fee_amount: number | null;
  fee_currency: string | null;
  /** Day of the order */
  order_date: string;
  maturity_date: string | null;
  reference: string | null;
  synthetic: boolean;
  /** Location to download the trade receipt */
  trade_receipt: string;
  /** The beneficiaries of its payments */
  beneficiaries: unknown[];
}

export interface TradeFunds {
  trade_id: string;
  status:
    | 'Created'
    | 'Funds In Partially'
    | 'Funds In Full'
    | 'Funds Out Partially Allocated'
    | 'Funds Out Full Allocated'
    | 'Closed'
    | 'Cancelled'
    | 'Rejected';
  buy_currency: string;
  /** What is bought, a decimal */
  buy_amount: string;
  /** What its live payments and drawdowns take, a decimal */
  allocated_amount: string;
  /** What is left; it may be below 0, a decimal */
  unallocated_amount: string;
  sell_currency: string;
  /** What is sold, a decimal */
  sell_amount: string;
  /** What is held for it in its funding account, a decimal */
  held_amount: string;
}

export interface TradeNotification {
  data: Trade[];
}

export interface TradeOrder {
  /** Why; not_related_to_goods_or_services is for a spot only */
  reason:
    | 'charitable_aid'
    | 'payment_for_goods'
    | 'capital_investment'
    | 'payment_for_services'
    | 'repatriation_of_goods'
    | 'repatriation_of_services'
    | 'property_purchase'
    | 'mortage_repayment'
    | 'property_rental_or_maintenance'
    | 'salary_payroll'
    | 'travel_costs'
    | 'living_costs'
    | 'repayment_of_loan'
    | 'balance_hedging'
    | 'repatriation_from_investment'
    | 'portfolio_netting'
    | 'not_related_to_goods_or_services'
    | 'other';
  /** Shown with the trade */
  reference?: string | null;
  /** The client's own identifier; no two of its trades have the same */
  external_reference_id?: string | null;
  /** Number of a currency account, which holds the sell amount until it is debited */
  funding_account_id?: number | null;
  /** Taken and ignored: the quote says it */
  trade_type?: unknown;
}

export interface Transaction {
  transaction_id: string;
  /** The currency account */
  account_id: string;
  transaction_reference: string | null;
  transaction_information: string | null;
  additional_transaction_information: string | null;
  amount: Money;
  /** The balance of the account after the booking */
  balance: {
    amount: Money;
    type: 'InterimAvailable';
    credit_debit_indicator: 'Credit' | 'Debit';
  };
  credit_debit_indicator: 'Credit' | 'Debit';
  status: 'Booked';
  /** When it was booked */
  booking_datetime: string;
  /** Its value date */
  value_datetime: string;
  creditor_name: string | null;
  creditor_account: Party | null;
  debtor_name: string | null;
  debtor_account: Party | null;
}

export interface TransactionNotification {
  data: Transaction[];
}

export interface TriedMassBeneficiary {
  /** Beneficiaries that were sent */
  rows_received: number;
  /** Those that could not be made, each once */
  rows_errored: number;
  /** What is wrong with them, in their order */
  errors: MassBeneficiaryError[];
}

export interface TriggeredEvent {
  event: string;
  entity: 'payment' | 'trade' | 'transaction' | 'onboarding_event' | 'beneficiary';
  /** The id in the body of the notification */
  entity_id: string;
}

export interface WrittenApprovalConfiguration {
  groups: {
    name: string;
    scope?: string;
    users: {
      /** A contact of the client */
      id: string;
      /** Not read: the service knows it */
      name?: string;
      /** Not read: the service knows it */
      email?: string;
    }[];
  }[];
  ruleset: Ruleset;
  /** Answered with `dry_run=true` only. Default: each threshold is a sample */
  sample_amounts?: (
    | number
    | string
    | {
        /** Amount; a number or a decimal string, read exactly */
        amount: number | string;
        /** Default: that of the ruleset */
        currency?: string;
      }
  )[];
}

/** Every operation of the client API, by method and path. */
export interface Operations {
  /** List the accounts, by currency */
  'GET /accounts': {
    query?: {
      /** Only in these currencies, comma separated, at most 1000, for example `EUR,GBP` */
      currencies?: string;
    };
    response: Account[];
  };
  /** List the currency accounts */
  'GET /accounts/currency-accounts': {
    response: CurrencyAccount[];
  };
  /** Read an account */
  'GET /accounts/{account_id}': {
    path: {
      /** Account UUID */
      account_id: string;
    };
    response: Account;
  };
  /** Tell whether FX can be initiated now */
  'GET /quotes/fx-availability': {
    response: FxAvailability;
  };
  /** List where to pay in */
  'GET /account-details': {
    query?: {
      /** dedicated: for this client alone; pooled: for all clients */
      account_details_type?: 'dedicated' | 'pooled';
      /** Only in this currency */
      currency?: string;
    };
    response: AccountDetails[];
  };
  /** Read the balances of the currency accounts */
  'GET /balances': {
    query?: {
      /** Only of these currencies, comma separated, at most 1000, for example `EUR,GBP` */
      currencies?: string;
      /** Only of these types, comma separated, at most 1000, for example `Available` */
      balance_types?: string;
    };
    response: Balance[];
  };
  /** Read the balances of a currency account */
  'GET /accounts/{account_id}/balances': {
    path: {
      account_id: string;
    };
    response: Balance[];
  };
  /** List the transactions of the currency accounts, the newest value date first */
  'GET /transactions': {
    query: {
      /** Of the accounts in these currencies, comma separated, at most 1000 */
      currencies: string;
      credit_debit_indicator?: 'Credit' | 'Debit';
      transaction_type?: 'credit' | 'debit' | 'incoming' | 'margin' | 'payment_returned';
      /** First moment of the value date, included; ISO 8601, in UTC without an offset, for example `2026-07-01T00:00:00Z` */
      from_value_datetime?: string;
      /** Last moment of the value date, excluded; ISO 8601, in UTC without an offset, for example `2026-07-01T00:00:00Z` */
      to_value_datetime?: string;
      /** By value date */
      order?: 'asc' | 'desc';
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: ClientTransaction[];
  };
  /** List the transactions of a currency account, the newest value date first */
  'GET /accounts/{account_id}/transactions': {
    path: {
      account_id: string;
    };
    query?: {
      credit_debit_indicator?: 'Credit' | 'Debit';
      transaction_type?: 'credit' | 'debit' | 'incoming' | 'margin' | 'payment_returned';
      /** First moment of the value date, included; ISO 8601, in UTC without an offset, for example `2026-07-01T00:00:00Z` */
      from_value_datetime?: string;
      /** Last moment of the value date, excluded; ISO 8601, in UTC without an offset, for example `2026-07-01T00:00:00Z` */
      to_value_datetime?: string;
      /** By value date */
      order?: 'asc' | 'desc';
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: ClientTransaction[];
  };
  /** Read a transaction of a currency account */
  'GET /accounts/{account_id}/transactions/{transaction_id}': {
    path: {
      account_id: string;
      transaction_id: string;
    };
    response: ClientTransaction;
  };
  /** List the currencies in which the client can act */
  'GET /currencies': {
    query?: {
      /** What is to be traded; the answer is the same for both */
      trade_type?: 'spot' | 'forward';
    };
    response: Currency[];
  };
  /** List the clients of the contact, and what it may do for each */
  'GET /clients': {
    response: OwnClient[];
  };
  /** List the enabled contacts of the client */
  'GET /contacts': {
    response: Contact[];
  };
  /** Read an enabled contact of the client */
  'GET /contacts/{contact_id}': {
    path: {
      contact_id: string;
    };
    response: Contact;
  };
  /** Tell whether the API answers */
  'GET /ping': {
    response: undefined;
  };
  /** Search payments */
  'GET /payments': {
    query?: {
      /** Payment identifiers, comma separated, at most 1000, for example `PAY000001,PAY000002` */
      payment_ids?: string;
      /** UUID of the related mass payment */
      mass_payment_id?: string;
      /** External reference of the related mass payment */
      mass_payment_external_reference_id?: string;
      /** Currencies, comma separated, at most 1000, for example `EUR,USD` */
      payment_currency?: string;
      /** Requires amount_range */
      amount?: number;
      /** Requires amount; `over` and `below` exclude the amount itself */
      amount_range?: 'over' | 'below' | 'equal';
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
      /** Direction */
      order?: 'asc' | 'desc';
      /** order_date: when the payment was created; value_date: its payment date. Ties keep the order of insertion */
      order_by?: 'order_date' | 'value_date';
      /** Exact payment reference */
      reference?: string;
      /** Trade that the payment is allocated to */
      trade_id?: string;
      /** Beneficiary of the payment */
      beneficiary_id?: string;
      /** First payment date, included, for example `2026-07-01` */
      from_payment_date?: string;
      /** Last payment date, included, for example `2026-07-01` */
      to_payment_date?: string;
      /** First Europe/London day of creation, included, for example `2026-07-01` */
      from_created_date?: string;
      /** Last Europe/London day of creation, included, for example `2026-07-01` */
      to_created_date?: string;
      /** pending: not in a final state; authorised: approved, in progress, not yet complete; pending_your_approval and pending_others_approval: pending of authorization, and the requesting contact may, or may not, authorise it now */
      status?:
        | 'pending'
        | 'pending_to_authorise'
        | 'authorised'
        | 'cancelled'
        | 'rejected'
        | 'complete'
        | 'pending_your_approval'
        | 'pending_others_approval';
    };
    response: Payment[];
  };
  /** Create payments */
  'POST /payments': {
    query?: {
      /** All checks, and what success would say; nothing is kept, and no key is taken */
      validate_only?: boolean;
    };
    body: PaymentOrder;
    response: OrderedPayment[];
  };
  /** Authorise or reject many payments */
  'PATCH /payments': {
    query: {
      /** What the contact does */
      action: 'authorise' | 'reject';
    };
    body: PaymentDecisions;
    response: DecidedPayment[];
  };
  /** Read a payment */
  'GET /payments/{payment_id}': {
    path: {
      /** Payment identifier */
      payment_id: string;
    };
    response: Payment;
  };
  /** Authorise or reject a payment, or provide information about its payee */
  'PATCH /payments/{payment_id}': {
    path: {
      /** Payment identifier */
      payment_id: string;
    };
    query: {
      /** What the requesting contact does */
      action: 'authorise' | 'reject' | 'provide_information';
    };
    body?: PaymentDecision;
    response: undefined;
  };
  /** Cancel a payment */
  'DELETE /payments/{payment_id}': {
    path: {
      /** Payment identifier */
      payment_id: string;
    };
    body?: PaymentCancellation;
    response: undefined;
  };
  /** Read the approvals settings */
  'GET /approvals-workflow/settings': {
    response: ApprovalSettings;
  };
  /** Read the approvals configuration */
  'GET /approvals-workflow/config': {
    query?: {
      /** An earlier version; default: the version in force */
      version?: number;
    };
    response: ApprovalConfiguration;
  };
  /** Replace the approvals configuration */
  'POST /approvals-workflow/config': {
    query?: {
      /** Check only, and answer who would have to approve `sample_amounts` */
      dry_run?: boolean;
    };
    body: WrittenApprovalConfiguration;
    response: ApprovalConfiguration | ApprovalDryRun;
  };
  /** List the versions of the approvals configuration */
  'GET /approvals-workflow/config/versions': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: ApprovalConfigurationVersion[];
  };
  /** Explain a payment's approvals */
  'GET /payments/{payment_id}/approvals': {
    path: {
      /** Payment identifier */
      payment_id: string;
    };
    response: ApprovalExplanation;
  };
  /** Open a challenge for an approval */
  'POST /payments/{payment_id}/challenges': {
    path: {
      /** Payment identifier */
      payment_id: string;
    };
    response: Challenge;
  };
  /** Ask what an exchange costs */
  'POST /quotes': {
    query: {
      /** Whether the rate is promised */
      quote_type: 'estimate' | 'quote';
    };
    body: QuoteOrder;
    response: Estimate | Quote;
  };
  /** Read a quote */
  'GET /quotes/{quote_id}': {
    path: {
      quote_id: string;
    };
    response: QuoteNow;
  };
  /** Open one challenge for many approvals */
  'POST /payments/challenges': {
    body: ChallengeForMany;
    response: Challenge;
  };
  /** Book a quote */
  'POST /trades': {
    query: {
      /** The quote */
      quote_id: string;
    };
    body: TradeOrder;
    response: BookedTrade;
  };
  /** List trades */
  'GET /trades': {
    query?: {
      /** Only of these types, comma separated, at most 1000, for example `spot` */
      trade_type?: string;
      /** Only with one of these statuses, comma separated, at most 1000, for example `Created` */
      status?: string;
      /** Only drawdowns of this trade */
      parent_trade_id?: string;
      /** Only those that buy it */
      buy_currency?: string;
      /** The client's own identifier */
      external_reference_id?: string;
      /** Only those that were booked for it */
      mass_payment_id?: string;
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: Trade[];
  };
  /** Draw down a window forward */
  'POST /trades/{trade_id}/drawdowns': {
    path: {
      trade_id: string;
    };
    body: DrawdownOrder;
    response: BookedTrade;
  };
  /** Read a trade */
  'GET /trades/{trade_id}': {
    path: {
      trade_id: string;
    };
    response: Trade;
  };
  /** Tell what is left of a trade */
  'GET /trades/{trade_id}/funds': {
    path: {
      trade_id: string;
    };
    response: TradeFunds;
  };
  /** Create many payments, with the exchanges that they need */
  'POST /multipayments': {
    query?: {
      /** The trade that all are paid from */
      trade_id?: string;
      /** What is sold for the currencies that are paid; or trade_id */
      sell_currency?: string;
      /** As without it */
      accept_immediately?: 'true';
      /** Do what can be done, and answer the others; default: true */
      accept_partial?: boolean;
      /** Number of a currency account in the sell currency, which holds what is sold or paid */
      funding_account_id?: number;
      /** Why; required with funding_account_id; default: other */
      reason?:
        | 'charitable_aid'
        | 'payment_for_goods'
        | 'capital_investment'
        | 'payment_for_services'
        | 'repatriation_of_goods'
        | 'repatriation_of_services'
        | 'property_purchase'
        | 'mortage_repayment'
        | 'property_rental_or_maintenance'
        | 'salary_payroll'
        | 'travel_costs'
        | 'living_costs'
        | 'repayment_of_loan'
        | 'balance_hedging'
        | 'repatriation_from_investment'
        | 'portfolio_netting'
        | 'not_related_to_goods_or_services'
        | 'other';
      /** All checks, and what success would say; nothing is kept, and no key is taken */
      validate_only?: boolean;
    };
    body: Instructions;
    response: OrderedMultipayment;
  };
  /** Reject a multi payment */
  'DELETE /multipayments/{multipayment_id}': {
    path: {
      /** The number, the formatted identifier or the unique identifier */
      multipayment_id: string;
    };
    body?: MultipaymentRejection;
    response: undefined;
  };
  /** List the beneficiaries */
  'GET /beneficiaries': {
    query?: {
      /** Exact, without case */
      name?: string;
      /** Account number; blanks and hyphens do not count */
      account_number?: string;
      /** IBAN, of the country of the bank; blanks and hyphens do not count */
      iban?: string;
      /** Sort code, ABA, BSB, IFSC or what the country has; blanks and hyphens do not count */
      bank_identifier?: string;
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: Beneficiary[];
  };
  /** Create a beneficiary */
  'POST /beneficiaries': {
    query?: {
      /** All checks, and what success would say; nothing is kept, and no key is taken */
      validate_only?: boolean;
    };
    body: BeneficiaryOrder;
    response: Beneficiary;
  };
  /** Search beneficiaries */
  'POST /beneficiaries/search': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    body: BeneficiarySearch;
    response: Beneficiary[];
  };
  /** Read a beneficiary */
  'GET /beneficiaries/{beneficiary_id}': {
    path: {
      /** The beneficiary */
      beneficiary_id: string;
    };
    response: Beneficiary;
  };
  /** Change a beneficiary */
  'PATCH /beneficiaries/{beneficiary_id}': {
    path: {
      /** The beneficiary */
      beneficiary_id: string;
    };
    query?: {
      /** All checks, and what success would say; nothing is kept, and no key is taken */
      validate_only?: boolean;
    };
    body: BeneficiaryChange;
    response: Beneficiary | undefined;
  };
  /** Delete a beneficiary */
  'DELETE /beneficiaries/{beneficiary_id}': {
    path: {
      /** The beneficiary */
      beneficiary_id: string;
    };
    response: undefined;
  };
  /** Tell what a beneficiary needs */
  'GET /metadata/beneficiary': {
    query?: {
      /** One country; default: all */
      country?: string;
      /** Only the entry that decides for it */
      currency?: string;
    };
    response: BeneficiaryNeeds[];
  };
  /** Create many beneficiaries */
  'POST /mass-beneficiaries': {
    query?: {
      /** All checks, and what success would say; nothing is kept, and no key is taken */
      validate_only?: boolean;
    };
    body: BeneficiaryOrders;
    response: TriedMassBeneficiary | TakenMassBeneficiary;
  };
  /** Read how far an instruction is */
  'GET /mass-beneficiaries/{mass_beneficiary_id}': {
    path: {
      /** Unique identifier of the instruction */
      mass_beneficiary_id: string;
    };
    response: MassBeneficiary;
  };
  /** List the errors of a mass-beneficiaries instruction */
  'GET /mass-beneficiaries/{mass_beneficiary_id}/errors': {
    path: {
      /** Unique identifier of the instruction */
      mass_beneficiary_id: string;
    };
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: MassBeneficiaryError[];
  };
  /** List the beneficiaries that an instruction has made */
  'GET /mass-beneficiaries/{mass_beneficiary_id}/beneficiaries': {
    path: {
      /** Unique identifier of the instruction */
      mass_beneficiary_id: string;
    };
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: MassBeneficiaryMade[];
  };
  /** Send a file of payments */
  'POST /mass-payments': {
    query?: {
      /** The client's own identifier, 1 to 64 characters from the blank to ~; no two files ever have the same */
      external_reference_id?: string;
      /** Goes on by itself where no row is bad */
      auto_commit?: boolean;
      /** What is sold for the currencies that are paid; or trade_id */
      sell_currency?: string;
      /** The trade that all are paid from */
      trade_id?: string;
      /** Number of a currency account in the sell currency */
      funding_account_id?: number;
      /** Why; required with funding_account_id; default: other */
      reason?:
        | 'charitable_aid'
        | 'payment_for_goods'
        | 'capital_investment'
        | 'payment_for_services'
        | 'repatriation_of_goods'
        | 'repatriation_of_services'
        | 'property_purchase'
        | 'mortage_repayment'
        | 'property_rental_or_maintenance'
        | 'salary_payroll'
        | 'travel_costs'
        | 'living_costs'
        | 'repayment_of_loan'
        | 'balance_hedging'
        | 'repatriation_from_investment'
        | 'portfolio_netting'
        | 'not_related_to_goods_or_services'
        | 'other';
      /** With a CSV: as in the JSON */
      maximum_sell_amount?: string;
    };
    body: MassPaymentOrder;
    response: TakenMassPayment;
  };
  /** List the files, the newest first */
  'GET /mass-payments': {
    query?: {
      /** Only this one */
      mass_payment_id?: string;
      /** Only the one with this reference */
      external_reference_id?: string;
      /** Only those with this status */
      mass_payment_status?:
        | 'Queued for processing'
        | 'Processing'
        | 'Processed'
        | 'Queued for creating'
        | 'Creating'
        | 'Created'
        | 'Cancelled'
        | 'Failed';
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: MassPayment[];
  };
  /** Read how far a file is */
  'GET /mass-payments/{mass_payment_id}': {
    path: {
      /** Unique identifier of the mass payment */
      mass_payment_id: string;
    };
    response: MassPayment;
  };
  /** Take a file back */
  'DELETE /mass-payments/{mass_payment_id}': {
    path: {
      /** Unique identifier of the mass payment */
      mass_payment_id: string;
    };
    response: undefined;
  };
  /** List the rows of a file */
  'GET /mass-payments/{mass_payment_id}/payments-received': {
    path: {
      /** Unique identifier of the mass payment */
      mass_payment_id: string;
    };
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: ReceivedInstruction[];
  };
  /** List the rows of a file that cannot be done */
  'GET /mass-payments/{mass_payment_id}/errors': {
    path: {
      /** Unique identifier of the mass payment */
      mass_payment_id: string;
    };
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: InvalidInstruction[];
  };
  /** Confirm a file */
  'POST /mass-payments/{mass_payment_id}/confirm': {
    path: {
      /** Unique identifier of the mass payment */
      mass_payment_id: string;
    };
    body?: MassPaymentConfirmation;
    response: TakenMassPayment;
  };
  /** Open a challenge for the confirmation of a file */
  'POST /mass-payments/{mass_payment_id}/challenges': {
    path: {
      /** Unique identifier of the mass payment */
      mass_payment_id: string;
    };
    response: Challenge;
  };
  /** Send a pain.001 */
  'POST /payment-initiations': {
    body: string;
    response: string;
  };
  /** Read what became of a pain.001 */
  'GET /payment-initiations/{message_id}/status': {
    path: {
      /** Its MsgId, percent-encoded */
      message_id: string;
    };
    response: string;
  };
  /** Manages webhook subscriptions over GraphQL */
  'POST /webhooks/graphql': {
    body: GraphqlRequest;
    response: GraphqlAnswer;
  };
  /** Send a Ping notification to a subscription */
  'POST /webhooks/ping/{subscription_id}': {
    path: {
      /** Subscription UUID */
      subscription_id: string;
    };
    response: undefined;
  };
  /** Read the last change of an onboarding */
  'GET /onboarding-events/{id}': {
    path: {
      /** The id of the notification */
      id: string;
    };
    response: OnboardingEvent;
  };
  /** Request a statement of the currency accounts */
  'POST /statements/accounts': {
    body: StatementInput;
    response: string;
  };
  /** Follow a statement request */
  'GET /statements/requests/{id}': {
    path: {
      /** Identifier of the request */
      id: string;
    };
    response: StatementRequest;
  };
  /** Request a statement of a currency account as a file */
  'POST /accounts/{account_id}/statements/file': {
    path: {
      account_id: string;
    };
    query?: {
      format?: 'pdf' | 'csv' | 'camt053';
    };
    body: StatementFileInput;
    response: StatementFileRequest;
  };
  /** Fetch the file of a statement */
  'GET /accounts/{account_id}/statements/{statement_id}/file': {
    path: {
      account_id: string;
      /** Identifier of the request */
      statement_id: string;
    };
    response: string | StatementFileProgress;
  };
  /** Return a document as a PDF */
  'GET /documents': {
    query: {
      /** pi: payment instruction, pr: payment receipt, tr: trade receipt */
      type: 'pi' | 'pr' | 'tr';
      /** payment_id, or trade_id for tr, for example `PAY000001` */
      id?: string;
      /** Another name of id */
      reference?: string;
    };
    response: string;
  };
  /** Create a payment */
  'POST /sandbox/payments': {
    body?: SandboxPaymentInput;
    response: Payment;
  };
  /** Advance a payment */
  'POST /sandbox/payments/{payment_id}/advance': {
    path: {
      /** Payment identifier */
      payment_id: string;
    };
    body?: SandboxAdvance;
    response: Payment;
  };
  /** Move a price */
  'PUT /sandbox/exchange-rate': {
    body: SandboxExchangeRate;
    response: SandboxExchangeRateSet;
  };
  /** Advance a trade */
  'POST /sandbox/trades/{trade_id}/advance': {
    path: {
      trade_id: string;
    };
    body?: SandboxTradeAdvance;
    response: Trade;
  };
  /** Trigger a notification */
  'POST /sandbox/trigger': {
    body: SandboxTrigger;
    response: TriggeredEvent;
  };
  /** Start again */
  'POST /sandbox/reset': {
    response: undefined;
  };
  /** Read your requests */
  'GET /sandbox/requests': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
      /** A status, as 404, or a class of them, as 4xx, for example `4xx` */
      status?: string;
    };
    response: LoggedRequest[];
  };
}

/** The bodies of the notifications, by the name that X-<Brand>-Webhook has. */
export interface Notifications {
  /** The status of a trade has changed */
  TradeStatusChange: TradeNotification;
  /** The status of a payment has changed */
  PaymentStatusChange: PaymentNotification;
  /** Funds have come into an account */
  CreditIncomingTransaction: TransactionNotification;
  /** Margin has been credited back */
  CreditMarginTransaction: TransactionNotification;
  /** A payment has been returned */
  CreditPaymentReturnedTransaction: TransactionNotification;
  /** An account has been credited */
  CreditTransaction: TransactionNotification;
  /** An account has been debited */
  DebitTransaction: TransactionNotification;
  /** The onboarding status of the client has changed */
  OnboardingStatusChange: OnboardingNotification;
  /** A beneficiary was created by the client, or its status has changed */
  BeneficiaryStatusChange: BeneficiaryNotification;
  /** The status of a mass payment has changed */
  MassPaymentStatusChange: MassPaymentNotification;
  /** The status of a mass-beneficiaries instruction has changed */
  MassBeneficiaryStatusChange: MassBeneficiaryNotification;
  /** A connectivity check, sent by the ping operation only */
  Ping: Ping;
}
