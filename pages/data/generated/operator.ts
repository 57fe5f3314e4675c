// biome-ignore-all lint: made by `npm run sdk-types` from /openapi.json of the operator interface; do not edit

export interface Account {
  account_id: string;
  account_subtype: 'EMoney';
  account_type: 'Personal' | 'Business';
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
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
}

export interface AccountInput {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** ISO 4217 currency */
  currency: string;
  /** Chosen by the core; default: a new one */
  account_id?: string;
  account_type?: 'Personal' | 'Business';
  account_subtype?: 'EMoney';
  status?: 'Enabled' | 'Disabled' | 'Deleted';
  account_details?: {
    account_address?: string | null;
    account_name?: string | null;
    account_number?: string | null;
    account_number_type?: 'IBAN' | 'BBAN' | null;
    bank_identifier?: string | null;
    bank_identifier_type?: string | null;
  }[];
}

export interface AccountPatch {
  status?: 'Enabled' | 'Disabled' | 'Deleted';
  account_details?: {
    account_address?: string | null;
    account_name?: string | null;
    account_number?: string | null;
    account_number_type?: 'IBAN' | 'BBAN' | null;
    bank_identifier?: string | null;
    bank_identifier_type?: string | null;
  }[];
}

export interface Acknowledgement {
  /** A place in the feed */
  cursor: string;
}

export interface Application {
  /** OAuth client_id */
  client_id: string;
  name: string;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  refresh_token_days: number;
  headless_sign_in: boolean;
  require_pkce: boolean;
  /** It has no secret, and must use PKCE */
  public_client: boolean;
  status: 'enabled' | 'disabled';
  certificate_subjects: string[];
  trusted_clients: string[];
}

export interface ApplicationInput {
  /** OAuth client_id; default: a new one */
  client_id?: string;
  /** Name */
  name: string;
  /** Compared exactly */
  redirect_uris: string[];
  post_logout_redirect_uris?: string[];
  refresh_token_days?: number;
  /** It may post email and password itself; default: true */
  headless_sign_in?: boolean;
  require_pkce?: boolean;
  status?: 'enabled' | 'disabled';
  /** Subject DNs, RFC 4514, most specific part first */
  certificate_subjects?: string[];
  /** Clients whose contacts it may act for over mutual TLS */
  trusted_clients?: string[];
}

export interface ApplicationPatch {
  /** Name */
  name?: string;
  /** Compared exactly */
  redirect_uris?: string[];
  post_logout_redirect_uris?: string[];
  refresh_token_days?: number;
  /** It may post email and password itself; default: true */
  headless_sign_in?: boolean;
  require_pkce?: boolean;
  status?: 'enabled' | 'disabled';
  /** Subject DNs, RFC 4514, most specific part first */
  certificate_subjects?: string[];
  /** Clients whose contacts it may act for over mutual TLS */
  trusted_clients?: string[];
}

export interface ApplicationSecret {
  client_id: string;
  client_secret: string;
  /** Seconds for which the old secret still works */
  overlap_seconds: number;
}

export interface ApprovalConfiguration {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** 0: none; then the eyes workflow governs */
  version: number;
  groups: {
    name: string;
    scope: string;
    users: {
      id: string;
      name: string;
      email: string;
    }[];
  }[];
  ruleset: {
    currency: string;
    rules: {
      minimum_threshold: number | null;
      groups: {
        one_of: {
          all_of: string[];
        }[];
      }[];
    }[];
  } | null;
}

export interface Attempt {
  /** From 1 */
  attempt_number: number;
  delivery_id: string;
  started_at: string;
  duration_ms: number;
  status_code: number | null;
  headers: {
    [name: string]: string | string[];
  } | null;
  body: string | null;
  reason: string | null;
}

export interface AuditHead {
  position: number;
  /** Hexadecimal */
  hash: string;
  at: string;
}

export interface AuditRow {
  /** Counts the rows in the order in which they were sealed */
  position: number;
  /** Hexadecimal */
  hash: string;
  id: number;
  at: string;
  /** operator:<token>, staff:<name>, contact:<contact_id> or service:<part> */
  actor: string;
  request_id: string;
  /** create, update, delete, import or action */
  action: string;
  entity: string;
  entity_id: string;
  client_id: string | null;
  before: unknown | null;
  after: unknown | null;
  reason: string | null;
  staff: {
    issuer: string;
    subject: string;
  } | null;
}

export interface AuditVerification {
  valid: boolean;
  /** Rows that were proved */
  rows: number;
  first_invalid: number | null;
  fault: {
    what: string;
    position: number | null;
    id: number | null;
    message: string;
  } | null;
  keyed_from: number | null;
  /** The first position that the retention has kept */
  kept_from: number;
  head: AuditHead | null;
}

export interface BegunErasure {
  erasure_id: string;
}

export interface Beneficiary {
  beneficiary_id: string;
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  beneficiary_name: string;
  beneficiary_aml_id: string | null;
  account_number: string | null;
  iban: string | null;
  swift_code: string | null;
  bank_identifier: string | null;
  currency: string | null;
  beneficiary_active: boolean;
  beneficiary_authorised: boolean;
  beneficiary_blocked: boolean;
  beneficiary_completed: boolean;
  beneficiary_verified: boolean;
}

export interface BeneficiaryInput {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** Chosen by the core; default: a new one */
  beneficiary_id?: string;
  /** Name */
  beneficiary_name: string;
  beneficiary_aml_id?: string | null;
  account_number?: string | null;
  iban?: string | null;
  swift_code?: string | null;
  bank_identifier?: string | null;
  currency?: string | null;
  beneficiary_active?: boolean;
  beneficiary_authorised?: boolean;
  beneficiary_blocked?: boolean;
  beneficiary_completed?: boolean;
  beneficiary_verified?: boolean;
}

export interface BeneficiaryPatch {
  /** Name */
  beneficiary_name?: string;
  beneficiary_aml_id?: string | null;
  account_number?: string | null;
  iban?: string | null;
  swift_code?: string | null;
  bank_identifier?: string | null;
  currency?: string | null;
  beneficiary_active?: boolean;
  beneficiary_authorised?: boolean;
  beneficiary_blocked?: boolean;
  beneficiary_completed?: boolean;
  beneficiary_verified?: boolean;
}

export interface Change {
  /** A place in the feed */
  cursor: string;
  /** When it was changed, on the service’s clock */
  at: string;
  entity:
    | 'client'
    | 'contact'
    | 'application'
    | 'account'
    | 'currency_account'
    | 'beneficiary'
    | 'trade'
    | 'payment'
    | 'approval'
    | 'multipayment'
    | 'mass_beneficiary'
    | 'transaction'
    | 'approval_configuration'
    | 'subscription'
    | 'statement_request';
  entity_id: string;
  client_id: string | null;
  /** Counts the changes of one record from 1 on, without gaps */
  version: number;
  /** create, update, delete, import, reset, or the payment action */
  action: string;
  /** contact:<contact_id>, token:<name>, staff:<name> or system */
  actor: string;
  request_id: string;
  /** The record as it stood after this change */
  data: Record<string, unknown>;
}

export interface Changes {
  changes: Change[];
  /** A place in the feed */
  cursor: string;
  /** Whether there are further changes already */
  more: boolean;
}

export interface Client {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  client_name: string;
  account_number: string | null;
  status: 'enabled' | 'disabled';
  fx_enabled: boolean;
  mass_payments_customer: boolean;
  authorisation_workflow: 'simple' | '4-eyes' | '6-eyes' | '8-eyes' | '10-eyes';
  payment_approvals_enabled: boolean;
  payment_creator_approval_enabled: boolean;
  /** An approval needs a verification code */
  approval_step_up: boolean;
  statement_push_url: string | null;
  became_client: string | null;
}

export interface ClientInput {
  /** Chosen by the core; default: a new one */
  client_id?: string;
  /** Name of the client */
  client_name: string;
  account_number?: string | null;
  status?: 'enabled' | 'disabled';
  /** The client may trade FX */
  fx_enabled?: boolean;
  /** A customer of the mass payments offering, who gets no onboarding notifications */
  mass_payments_customer?: boolean;
  authorisation_workflow?: 'simple' | '4-eyes' | '6-eyes' | '8-eyes' | '10-eyes';
  payment_approvals_enabled?: boolean;
  payment_creator_approval_enabled?: boolean;
  /** An approval needs a verification code that is tied to the payment */
  approval_step_up?: boolean;
  statement_push_url?: string | null;
  statement_push_secret?: string | null;
  became_client?: string | null;
}

export interface ClientPatch {
  /** Name of the client */
  client_name?: string;
  account_number?: string | null;
  status?: 'enabled' | 'disabled';
  /** The client may trade FX */
  fx_enabled?: boolean;
  /** A customer of the mass payments offering, who gets no onboarding notifications */
  mass_payments_customer?: boolean;
  authorisation_workflow?: 'simple' | '4-eyes' | '6-eyes' | '8-eyes' | '10-eyes';
  payment_approvals_enabled?: boolean;
  payment_creator_approval_enabled?: boolean;
  /** An approval needs a verification code that is tied to the payment */
  approval_step_up?: boolean;
  statement_push_url?: string | null;
  statement_push_secret?: string | null;
  became_client?: string | null;
}

export interface Clock {
  now: string;
  /** Milliseconds that it is ahead of the machine */
  offset_ms: number;
}

export interface ClockMove {
  /** The instant that it shows next, ISO 8601 with an offset */
  at?: string;
  /** Seconds forward; negative: backward */
  advance_seconds?: number;
}

export interface Consumer {
  name: string;
  /** A place in the feed */
  cursor: string;
  acknowledged_at: string;
  /** Changes that it has not acknowledged */
  lag_changes: number;
  /** Since when the oldest of them waits; 0 without one */
  lag_seconds: number;
}

export interface Contact {
  contact_id: string;
  name: string;
  email: string;
  phone: string | null;
  status: 'enabled' | 'disabled';
  second_factor: 'none' | 'totp' | 'sms';
  trusted_access: boolean;
  language: 'en' | 'de' | 'fr' | 'es' | null;
  /** It is told of payments by mail */
  approval_mails: boolean;
  clients: {
    client_id: string;
    permissions: (
      | 'can_authorise_payments'
      | 'can_manage_payments'
      | 'can_manage_multipayments'
      | 'can_manage_permissions'
      | 'can_manage_webhooks'
    )[];
  }[];
  /** Shown once, in the answer that enrols the contact */
  totp?: {
    secret: string;
    /** For the QR code of an authenticator */
    uri: string;
  };
}

export interface ContactInput {
  /** Chosen by the core; default: a new one */
  contact_id?: string;
  /** Name */
  name: string;
  /** Unique, ignoring case */
  email: string;
  password?: string;
  phone?: string | null;
  status?: 'enabled' | 'disabled';
  second_factor?: 'none' | 'totp' | 'sms';
  /** An institution may get tokens for it over mutual TLS */
  trusted_access?: boolean;
  language?: 'en' | 'de' | 'fr' | 'es' | null;
  /** It is told by mail of payments that wait for it; default: yes */
  approval_mails?: boolean;
  /** The clients it acts for; default of `permissions`: all five */
  clients: {
    /** Client identifier, one of `clients` in the id_token */
    client_id: string;
    permissions?: (
      | 'can_authorise_payments'
      | 'can_manage_payments'
      | 'can_manage_multipayments'
      | 'can_manage_permissions'
      | 'can_manage_webhooks'
    )[];
  }[];
}

export interface ContactLock {
  password_locked_until: string | null;
  second_factor_locked_until: string | null;
}

export interface ContactPatch {
  /** Name */
  name?: string;
  /** Unique, ignoring case */
  email?: string;
  password?: string;
  phone?: string | null;
  status?: 'enabled' | 'disabled';
  second_factor?: 'none' | 'totp' | 'sms';
  /** An institution may get tokens for it over mutual TLS */
  trusted_access?: boolean;
  language?: 'en' | 'de' | 'fr' | 'es' | null;
  /** It is told by mail of payments that wait for it; default: yes */
  approval_mails?: boolean;
  /** The clients it acts for; default of `permissions`: all five */
  clients?: {
    /** Client identifier, one of `clients` in the id_token */
    client_id: string;
    permissions?: (
      | 'can_authorise_payments'
      | 'can_manage_payments'
      | 'can_manage_multipayments'
      | 'can_manage_permissions'
      | 'can_manage_webhooks'
    )[];
  }[];
}

export interface CreatedApplication {
  /** OAuth client_id */
  client_id: string;
  name: string;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  refresh_token_days: number;
  headless_sign_in: boolean;
  require_pkce: boolean;
  /** It has no secret, and must use PKCE */
  public_client: boolean;
  status: 'enabled' | 'disabled';
  certificate_subjects: string[];
  trusted_clients: string[];
  client_secret: string;
}

export interface CreatedOperatorToken {
  id: string;
  name: string;
  role: 'admin' | 'core' | 'identity' | 'support' | 'auditor' | null;
  scopes: ('read' | 'feed' | 'identity' | 'approvals' | 'redeliver' | 'unlock' | 'changes' | 'audit' | 'system')[];
  created_at: string;
  expires_at: string | null;
  token: string;
}

export interface CurrencyAccount {
  account_id: number;
  currency: string;
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** A decimal */
  balance: string;
}

export interface CurrencyAccountInput {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** ISO 4217 currency */
  currency: string;
}

export interface DeliveryCount {
  count: number;
}

export interface Erasure {
  state: 'running' | 'done';
  started_at: string;
  ended_at: string | null;
  /** Rows that were replaced so far */
  rows: number;
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

export interface FxSetting {
  mode: 'auto' | 'open' | 'closed';
  holidays: string[];
}

export interface FxSettingInput {
  mode: 'auto' | 'open' | 'closed';
  holidays?: string[];
}

export interface HealthHistory {
  from: string;
  step_seconds: number;
  measures: {
    /** One for each step */
    delivered: number[];
    /** One for each step */
    delivery_failures: number[];
    /** One for each step */
    errors: number[];
    /** One for each step */
    refused: number[];
    /** One for each step */
    requests: number[];
    /** One for each step */
    sign_in_failures: number[];
    /** One for each step */
    sign_ins: number[];
    /** One for each step */
    audit_lag_seconds: number[];
    /** One for each step */
    outbox_lag_seconds: number[];
  };
}

export interface Import {
  import_id: string;
  kind: 'clients' | 'contacts' | 'beneficiaries' | 'trades' | 'payments' | 'transactions' | 'payment-actions';
  state: 'running' | 'done' | 'interrupted';
  /** The last line that is committed, with all before it */
  lines_read: number;
  /** Lines that were imported */
  accepted: number;
  /** Lines whose record was there already, with the same content */
  unchanged: number;
  /** Lines that were not imported */
  rejected: number;
  started_at: string;
  ended_at: string | null;
  /** The first 1000 */
  errors: {
    /** From 1 */
    line: number;
    code: string;
    message: string;
    details: string;
  }[];
}

export interface ImportAnswer {
  /** Lines that were imported */
  accepted: number;
  /** Lines whose record was there already, with the same content */
  unchanged?: number;
  /** Lines that were not imported */
  rejected: number;
  /** The first 1000 */
  errors: {
    /** From 1 */
    line: number;
    code: string;
    message: string;
    details: string;
  }[];
}

export interface ImportSummary {
  import_id: string;
  kind: 'clients' | 'contacts' | 'beneficiaries' | 'trades' | 'payments' | 'transactions' | 'payment-actions';
  state: 'running' | 'done' | 'interrupted';
  /** The last line that is committed, with all before it */
  lines_read: number;
  /** Lines that were imported */
  accepted: number;
  /** Lines whose record was there already, with the same content */
  unchanged: number;
  /** Lines that were not imported */
  rejected: number;
  started_at: string;
  ended_at: string | null;
}

export interface ListedCurrencyAccount {
  account_id: number;
  currency: string;
}

export interface Liveness {
  status: 'ok';
}

export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
  attachments: {
    filename: string;
    content_type: string;
    /** In base64 */
    content: string;
  }[];
  message_id: string;
  sent_at: string;
}

export interface MassBeneficiary {
  mass_beneficiary_id: string;
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  status: 'queued' | 'processing' | 'created' | 'failed';
  created_date: string;
  error_count: number;
  /** The first of them */
  errors: {
    code: string;
    message: string;
    details: string;
    request_index: number;
  }[];
}

export interface MassBeneficiaryInput {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** Chosen by the core; default: a new one */
  mass_beneficiary_id?: string;
  status?: 'queued' | 'processing' | 'created' | 'failed';
  errors?: {
    /** Code */
    code: string;
    /** Message */
    message: string;
    details: string;
    request_index: number;
  }[];
}

export interface MassBeneficiaryPatch {
  /** Client identifier, one of `clients` in the id_token */
  client_id?: string;
  status?: 'queued' | 'processing' | 'created' | 'failed';
  errors?: {
    /** Code */
    code: string;
    /** Message */
    message: string;
    details: string;
    request_index: number;
  }[];
  add_errors?: {
    /** Code */
    code: string;
    /** Message */
    message: string;
    details: string;
    request_index: number;
  }[];
}

export interface Money {
  /** A decimal */
  amount: string;
  currency: string;
}

export interface Multipayment {
  /** Internal sequential identifier */
  multipayment_id: string;
  /** Formatted identifier */
  multipayment: string;
  multipayment_unique_id: string;
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** Contact who initiated it */
  contact_id: string;
  status: 'created' | 'rejected';
  /** In the order of the request */
  trades: Trade[];
  payments: Payment[];
}

export interface MultipaymentInput {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** Contact who initiates it */
  contact_id: string;
  /** Chosen by the core; default: a new one */
  multipayment_unique_id?: string;
  trades: {
    /** Default: that of the multi payment; it cannot differ */
    client_id?: string;
    /** Default: that of the multi payment; it cannot differ */
    contact_id?: string;
    /** Currency that is bought */
    buy_currency: string;
    /** Currency that is sold */
    sell_currency: string;
    /** Amount that is bought; a number or a decimal string, read exactly */
    buy_amount: number | string;
    /** Units of the bought currency for one unit of the sold one; a number or a decimal string, read exactly */
    rate: number | string;
    /** Chosen by the core; default: a new one */
    trade_id?: string;
    parent_trade_id?: string | null;
    status?:
      | 'Created'
      | 'Funds In Partially'
      | 'Funds In Full'
      | 'Funds Out Partially Allocated'
      | 'Funds Out Full Allocated'
      | 'Closed'
      | 'Cancelled'
      | 'Rejected';
    trade_type?: 'spot' | 'forward' | 'window_forward' | 'drawdown' | 'ndf';
    /** Pair, sold currency first */
    rate_symbol?: string;
    /** Amount that is sold; default: buy_amount / rate; a number or a decimal string, read exactly */
    sell_amount?: number | string;
    fee_amount?: number | string | null;
    fee_currency?: string | null;
    /** Day of the order, YYYY-MM-DD */
    order_date?: string;
    maturity_date?: string | null;
    reference?: string | null;
    synthetic?: boolean;
    /** Default: the beneficiaries of its payments */
    beneficiaries?: unknown[];
  }[];
  payments: {
    /** Default: that of the multi payment; it cannot differ */
    client_id?: string;
    /** Default: that of the multi payment; it cannot differ */
    contact_id?: string;
    /** Who is paid */
    beneficiary_id: string;
    /** Amount; a number or a decimal string, read exactly */
    amount: number | string;
    /** ISO 4217 currency */
    payment_currency: string;
    /** Target payment date, YYYY-MM-DD */
    payment_date: string;
    /** Chosen by the core; default: a new one */
    payment_id?: string;
    reference?: string | null;
    fee_amount?: number | string | null;
    fee_currency?: string | null;
    charges?: string | null;
    scheme?:
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
    invoice_required?: boolean;
    mass_payment_id?: string | null;
    mass_payment_external_reference_id?: string | null;
    /** Index into `trades`: the trade that funds it */
    trade: number;
  }[];
}

export interface Notification {
  id: string;
  client_id: string;
  subscription_id: string;
  type:
    | 'TRADE_STATUS_CHANGE'
    | 'PAYMENT_STATUS_CHANGE'
    | 'CREDIT_INCOMING_TRANSACTION'
    | 'CREDIT_MARGIN_TRANSACTION'
    | 'CREDIT_PAYMENT_RETURNED_TRANSACTION'
    | 'CREDIT_TRANSACTION'
    | 'DEBIT_TRANSACTION'
    | 'ONBOARDING_STATUS_CHANGE'
    | 'PING';
  status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  created_at: string;
  /** The body that is sent, byte for byte */
  body: string;
  attempts: Attempt[];
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

export interface OnboardingInput {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** The new status */
  onboarding_status: string;
  /** Identifier of the onboarding; default: the client */
  id?: string;
  /** Type of the entity */
  type?: string;
  account_number?: string | null;
  service_id?: string | null;
  became_client?: string | null;
}

export interface OperatorToken {
  id: string;
  name: string;
  role: 'admin' | 'core' | 'identity' | 'support' | 'auditor' | null;
  scopes: ('read' | 'feed' | 'identity' | 'approvals' | 'redeliver' | 'unlock' | 'changes' | 'audit' | 'system')[];
  created_at: string;
  expires_at: string | null;
}

export interface OperatorTokenInput {
  /** Name */
  name: string;
  /** The scopes that a task needs; or scopes */
  role?: 'admin' | 'core' | 'identity' | 'support' | 'auditor';
  /** What it may do; in place of a role */
  scopes?: ('read' | 'feed' | 'identity' | 'approvals' | 'redeliver' | 'unlock' | 'changes' | 'audit' | 'system')[];
  /** When it stops working, ISO 8601 with an offset */
  expires_at?: string;
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
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
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

export interface PaymentAction {
  action:
    | 'authorise'
    | 'reject'
    | 'cancel'
    | 'request_information'
    | 'provide_information'
    | 'validate'
    | 'send'
    | 'complete'
    | 'invalidate'
    | 'start_return'
    | 'return';
  /** Who acts; required by authorise and reject */
  contact_id?: string;
  /** Kept in the audit trail */
  reason?: string;
}

export interface PaymentInput {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** The creator */
  contact_id: string;
  /** Trade that funds it */
  trade_id: string;
  /** Who is paid */
  beneficiary_id: string;
  /** Amount; a number or a decimal string, read exactly */
  amount: number | string;
  /** ISO 4217 currency */
  payment_currency: string;
  /** Target payment date, YYYY-MM-DD */
  payment_date: string;
  /** Chosen by the core; default: a new one */
  payment_id?: string;
  reference?: string | null;
  fee_amount?: number | string | null;
  fee_currency?: string | null;
  charges?: string | null;
  scheme?:
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
  invoice_required?: boolean;
  mass_payment_id?: string | null;
  mass_payment_external_reference_id?: string | null;
}

export interface QueuedCount {
  /** Notifications that were queued */
  count: number;
}

export interface RateTable {
  base_currency: string;
  /** One unit of the base is that many of each currency */
  rates: {
    [name: string]: number;
  };
  as_of: string;
}

export interface RateTableInput {
  /** One unit of this currency ... */
  base_currency: string;
  rates: {
    [name: string]: number | string;
  };
  /** When the rates applied, ISO 8601 with an offset */
  as_of?: string;
}

export interface Ready {
  ready: true;
}

export interface ReconciledCurrency {
  client_id: string;
  currency: string;
  created?: Tally;
  /** By the status that payments got */
  moved: {
    [name: string]: Tally;
  };
  /** By kind */
  transactions: {
    [name: string]: Tally;
  };
}

export interface RefusedRequest {
  /** When it was answered */
  at: string;
  /** api, auth, trusted or operator */
  listener: string;
  method: string | null;
  route: string | null;
  status: number;
  code: string | null;
  details: string | null;
  client: string | null;
  client_id: string | null;
  contact: string | null;
  contact_id: string | null;
  application: string | null;
  /** The header x-request-id of the answer */
  request_id: string;
  ms: number | null;
}

export interface ReplayInput {
  /** Events from this instant on, ISO 8601 with an offset */
  since: string;
  /** Events before this instant; default: now, ISO 8601 with an offset */
  until?: string;
  /** Only notifications whose attempts have failed, not those that were delivered or missed */
  only_failed?: boolean;
}

export interface SecretRotation {
  overlap_seconds?: number;
}

export interface SignInAttempt {
  at: string;
  /** second_factor_required: the password was right, and the second factor is still to come. disabled: the contact is disabled, whatever the password was */
  outcome:
    | 'ok'
    | 'wrong_password'
    | 'disabled'
    | 'locked'
    | 'second_factor_required'
    | 'second_factor_failed'
    | 'second_factor_expired';
  contact_id: string | null;
  email: string | null;
  application: string | null;
  /** The IP address, as far as LOMBARD_PROXIES are believed */
  address: string;
  /** The header x-request-id of the answer */
  request_id: string;
}

export interface Statement {
  id: string;
  /** As the client reads it */
  state: 'queued' | 'running' | 'sent' | 'failed';
  requested_at: string;
  ended_at: string | null;
  /** The same as `id` */
  statement_id: string;
  client_id: string;
  /** Contact who asked for it */
  contact_id: string;
  date_from: string;
  date_to: string;
  format: string;
  delivery: string;
  currencies: string[];
  /** Finer than `state` */
  status: 'requested' | 'making' | 'retrying' | 'sent' | 'failed';
  /** The same as `requested_at` */
  created_at: string;
  request_id: string;
  deliveries: {
    /** email or push */
    channel: string;
    currency: string | null;
    status: 'requested' | 'making' | 'retrying' | 'sent' | 'failed';
    attempts: number;
    last_error: string | null;
    next_attempt_at: string | null;
    finished_at: string | null;
  }[];
}

export interface Subscription {
  id: string;
  client_id: string;
  /** Contact who made it */
  contact_id: string;
  url: string | null;
  active: boolean;
  types: (
    | 'TRADE_STATUS_CHANGE'
    | 'PAYMENT_STATUS_CHANGE'
    | 'CREDIT_INCOMING_TRANSACTION'
    | 'CREDIT_MARGIN_TRANSACTION'
    | 'CREDIT_PAYMENT_RETURNED_TRANSACTION'
    | 'CREDIT_TRANSACTION'
    | 'DEBIT_TRANSACTION'
    | 'ONBOARDING_STATUS_CHANGE'
  )[];
  extra_headers: {
    name: string;
    value: string;
  }[];
  created_at: string;
  disabled_reason: string | null;
  disabled_at: string | null;
  deleted_at: string | null;
  failing_since: string | null;
}

export interface Tally {
  count: number;
  /** Decimal */
  sum: string;
}

export interface TextMessage {
  to: string;
  text: string;
  sent_at: string;
}

export interface TimelineEntry {
  at: string;
  kind: 'action' | 'approval' | 'notification' | 'attempt' | 'audit';
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
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** Contact who booked it */
  contact_id: string;
}

export interface TradeInput {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** Contact who booked it */
  contact_id: string;
  /** Currency that is bought */
  buy_currency: string;
  /** Currency that is sold */
  sell_currency: string;
  /** Amount that is bought; a number or a decimal string, read exactly */
  buy_amount: number | string;
  /** Units of the bought currency for one unit of the sold one; a number or a decimal string, read exactly */
  rate: number | string;
  /** Chosen by the core; default: a new one */
  trade_id?: string;
  parent_trade_id?: string | null;
  status?:
    | 'Created'
    | 'Funds In Partially'
    | 'Funds In Full'
    | 'Funds Out Partially Allocated'
    | 'Funds Out Full Allocated'
    | 'Closed'
    | 'Cancelled'
    | 'Rejected';
  trade_type?: 'spot' | 'forward' | 'window_forward' | 'drawdown' | 'ndf';
  /** Pair, sold currency first */
  rate_symbol?: string;
  /** Amount that is sold; default: buy_amount / rate; a number or a decimal string, read exactly */
  sell_amount?: number | string;
  fee_amount?: number | string | null;
  fee_currency?: string | null;
  /** Day of the order, YYYY-MM-DD */
  order_date?: string;
  maturity_date?: string | null;
  reference?: string | null;
  synthetic?: boolean;
  /** Default: the beneficiaries of its payments */
  beneficiaries?: unknown[];
}

export interface TradePatch {
  status:
    | 'Created'
    | 'Funds In Partially'
    | 'Funds In Full'
    | 'Funds Out Partially Allocated'
    | 'Funds Out Full Allocated'
    | 'Closed'
    | 'Cancelled'
    | 'Rejected';
}

export interface Transaction {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  kind:
    | 'CREDIT_INCOMING_TRANSACTION'
    | 'CREDIT_MARGIN_TRANSACTION'
    | 'CREDIT_PAYMENT_RETURNED_TRANSACTION'
    | 'CREDIT_TRANSACTION'
    | 'DEBIT_TRANSACTION';
  payment_id: string | null;
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

export interface TransactionInput {
  /** Client identifier, one of `clients` in the id_token */
  client_id: string;
  /** Currency account */
  currency_account_id: number;
  kind:
    | 'CREDIT_INCOMING_TRANSACTION'
    | 'CREDIT_MARGIN_TRANSACTION'
    | 'CREDIT_PAYMENT_RETURNED_TRANSACTION'
    | 'CREDIT_TRANSACTION'
    | 'DEBIT_TRANSACTION';
  amount: {
    /** Amount; a number or a decimal string, read exactly */
    amount: number | string;
    /** The account's currency */
    currency: string;
  };
  /** Chosen by the core; default: a UUID */
  transaction_id?: string;
  creditor_name?: string | null;
  creditor_account?: {
    account_name?: string | null;
    account_number?: string | null;
    bank_identifier?: string | null;
    bank_identifier_code?: string | null;
    iban?: string | null;
    swift?: string | null;
  } | null;
  debtor_name?: string | null;
  debtor_account?: {
    account_name?: string | null;
    account_number?: string | null;
    bank_identifier?: string | null;
    bank_identifier_code?: string | null;
    iban?: string | null;
    swift?: string | null;
  } | null;
  transaction_reference?: string | null;
  transaction_information?: string | null;
  additional_transaction_information?: string | null;
  /** When it was booked; default: now, ISO 8601 with an offset */
  booking_datetime?: string;
  /** Value date; default: the booking date, ISO 8601 with an offset */
  value_datetime?: string;
}

export interface Unready {
  ready: false;
  reason: string;
}

/** Every operation of the operator interface, by method and path. */
export interface Operations {
  /** Create an operator token */
  'POST /operator-tokens': {
    body: OperatorTokenInput;
    response: CreatedOperatorToken;
  };
  /** List the tokens in force */
  'GET /operator-tokens': {
    query?: {
      /** Page, from 1; default: the whole list */
      page?: number;
      /** Entries on a page; with page: 50 */
      page_size?: number;
    };
    response: OperatorToken[];
  };
  /** Revoke a token */
  'DELETE /operator-tokens/{id}': {
    path: {
      /** Token */
      id: string;
    };
    response: undefined;
  };
  /** Create a client */
  'POST /clients': {
    body: ClientInput;
    response: Client;
  };
  /** List clients */
  'GET /clients': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
      /** A part of the name, the identifier or the account number */
      q?: string;
    };
    response: Client[];
  };
  /** Read a client */
  'GET /clients/{client_id}': {
    path: {
      client_id: string;
    };
    response: Client;
  };
  /** Change a client */
  'PATCH /clients/{client_id}': {
    path: {
      client_id: string;
    };
    body: ClientPatch;
    response: Client;
  };
  /** Create a contact */
  'POST /contacts': {
    body: ContactInput;
    response: Contact;
  };
  /** List contacts */
  'GET /contacts': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
      client_id?: string;
      /** The whole email, in any case */
      email?: string;
    };
    response: Contact[];
  };
  /** Read a contact */
  'GET /contacts/{contact_id}': {
    path: {
      contact_id: string;
    };
    response: Contact;
  };
  /** Change a contact */
  'PATCH /contacts/{contact_id}': {
    path: {
      contact_id: string;
    };
    body: ContactPatch;
    response: Contact;
  };
  /** Erase the person of a disabled contact */
  'POST /contacts/{contact_id}/erase': {
    path: {
      contact_id: string;
    };
    response: BegunErasure;
  };
  /** Read the progress of an erasure */
  'GET /erasures/{erasure_id}': {
    path: {
      /** Erasure */
      erasure_id: string;
    };
    response: Erasure;
  };
  /** Read whether a contact is locked */
  'GET /contacts/{contact_id}/lock': {
    path: {
      contact_id: string;
    };
    response: ContactLock;
  };
  /** Lift the lock of a contact that guessed too often */
  'POST /contacts/{contact_id}/unlock': {
    path: {
      contact_id: string;
    };
    response: undefined;
  };
  /** Read a client's approvals configuration in force */
  'GET /approvals-configurations/{client_id}': {
    path: {
      client_id: string;
    };
    response: ApprovalConfiguration;
  };
  /** Register an application */
  'POST /applications': {
    body: ApplicationInput;
    response: CreatedApplication;
  };
  /** List applications */
  'GET /applications': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: Application[];
  };
  /** Read an application */
  'GET /applications/{client_id}': {
    path: {
      client_id: string;
    };
    response: Application;
  };
  /** Change an application */
  'PATCH /applications/{client_id}': {
    path: {
      client_id: string;
    };
    body: ApplicationPatch;
    response: Application;
  };
  /** Create a new secret */
  'POST /applications/{client_id}/secret': {
    path: {
      client_id: string;
    };
    body?: SecretRotation;
    response: ApplicationSecret;
  };
  /** Create a beneficiary */
  'POST /beneficiaries': {
    body: BeneficiaryInput;
    response: Beneficiary;
  };
  /** List beneficiaries */
  'GET /beneficiaries': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
      client_id?: string;
    };
    response: Beneficiary[];
  };
  /** Read a beneficiary */
  'GET /beneficiaries/{beneficiary_id}': {
    path: {
      beneficiary_id: string;
    };
    response: Beneficiary;
  };
  /** Change a beneficiary */
  'PATCH /beneficiaries/{beneficiary_id}': {
    path: {
      beneficiary_id: string;
    };
    body: BeneficiaryPatch;
    response: Beneficiary;
  };
  /** Book a trade */
  'POST /trades': {
    body: TradeInput;
    response: Trade;
  };
  /** List trades */
  'GET /trades': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
      client_id?: string;
      /** Only trades with this status */
      status?:
        | 'Created'
        | 'Funds In Partially'
        | 'Funds In Full'
        | 'Funds Out Partially Allocated'
        | 'Funds Out Full Allocated'
        | 'Closed'
        | 'Cancelled'
        | 'Rejected';
    };
    response: Trade[];
  };
  /** Read a trade */
  'GET /trades/{trade_id}': {
    path: {
      trade_id: string;
    };
    response: Trade;
  };
  /** Set the status of a trade */
  'PATCH /trades/{trade_id}': {
    path: {
      trade_id: string;
    };
    body: TradePatch;
    response: Trade;
  };
  /** Create a payment */
  'POST /payments': {
    body: PaymentInput;
    response: Payment;
  };
  /** Search payments */
  'GET /payments': {
    query?: {
      /** Required unless payment_ids, uuid or reference is given */
      client_id?: string;
      /** The SWIFT UETR */
      uuid?: string;
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
  /** Read a payment */
  'GET /payments/{payment_id}': {
    path: {
      payment_id: string;
    };
    response: Payment;
  };
  /** Read everything that happened to a payment, in order */
  'GET /payments/{payment_id}/timeline': {
    path: {
      payment_id: string;
    };
    response: TimelineEntry[];
  };
  /** Act on a payment */
  'POST /payments/{payment_id}/actions': {
    path: {
      payment_id: string;
    };
    body: PaymentAction;
    response: Payment;
  };
  /** Create a multi payment */
  'POST /multipayments': {
    body: MultipaymentInput;
    response: Multipayment;
  };
  /** Read a multi payment */
  'GET /multipayments/{multipayment_id}': {
    path: {
      /** The number, the formatted or the unique identifier */
      multipayment_id: string;
    };
    response: Multipayment;
  };
  /** Record a mass-beneficiaries instruction */
  'POST /mass-beneficiaries': {
    body: MassBeneficiaryInput;
    response: MassBeneficiary;
  };
  /** Read an instruction */
  'GET /mass-beneficiaries/{mass_beneficiary_id}': {
    path: {
      /** Instruction */
      mass_beneficiary_id: string;
    };
    response: MassBeneficiary;
  };
  /** Set the status of an instruction and report errors */
  'PATCH /mass-beneficiaries/{mass_beneficiary_id}': {
    path: {
      /** Instruction */
      mass_beneficiary_id: string;
    };
    body: MassBeneficiaryPatch;
    response: MassBeneficiary;
  };
  /** Open an account */
  'POST /accounts': {
    body: AccountInput;
    response: Account;
  };
  /** List accounts */
  'GET /accounts': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
      client_id?: string;
    };
    response: Account[];
  };
  /** Read an account */
  'GET /accounts/{account_id}': {
    path: {
      /** Account */
      account_id: string;
    };
    response: Account;
  };
  /** Change an account */
  'PATCH /accounts/{account_id}': {
    path: {
      /** Account */
      account_id: string;
    };
    body: AccountPatch;
    response: Account;
  };
  /** Open a currency account */
  'POST /currency-accounts': {
    body: CurrencyAccountInput;
    response: CurrencyAccount;
  };
  /** List a client's currency accounts */
  'GET /currency-accounts': {
    query: {
      client_id: string;
      /** Page, from 1; default: the whole list */
      page?: number;
      /** Entries on a page; with page: 50 */
      page_size?: number;
    };
    response: ListedCurrencyAccount[];
  };
  /** Read a currency account with its balance */
  'GET /currency-accounts/{account_id}': {
    path: {
      /** Its number */
      account_id: string;
    };
    response: CurrencyAccount;
  };
  /** Book a transaction */
  'POST /transactions': {
    body: TransactionInput;
    response: Transaction;
  };
  /** List transactions, the newest first */
  'GET /transactions': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
      client_id?: string;
      /** Only of this currency account */
      currency_account_id?: number;
      /** Booked from then on: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      from?: string;
      /** Booked before then, or up to the end of a day: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      to?: string;
    };
    response: Transaction[];
  };
  /** Read a transaction */
  'GET /transactions/{id}': {
    path: {
      id: string;
    };
    response: Transaction;
  };
  /** Record a change of an onboarding */
  'POST /onboarding-events': {
    body: OnboardingInput;
    response: OnboardingEvent;
  };
  /** Set when FX is available */
  'PUT /fx-availability': {
    body: FxSettingInput;
    response: FxSetting;
  };
  /** Read the FX setting */
  'GET /fx-availability': {
    response: FxSetting;
  };
  /** Replace the rates of a base currency */
  'PUT /exchange-rates': {
    body: RateTableInput;
    response: RateTable[];
  };
  /** Read all rates */
  'GET /exchange-rates': {
    query?: {
      /** Page, from 1; default: the whole list */
      page?: number;
      /** Entries on a page; with page: 50 */
      page_size?: number;
    };
    response: RateTable[];
  };
  /** Read the service's clock */
  'GET /clock': {
    response: Clock;
  };
  /** Move the service's clock */
  'PUT /clock': {
    body: ClockMove;
    response: Clock;
  };
  /** Set the clock back to the machine's time */
  'DELETE /clock': {
    response: Clock;
  };
  /** List the mails of a service without an SMTP server, the newest first */
  'GET /mailbox': {
    query?: {
      /** Page, from 1; default: the whole list */
      page?: number;
      /** Entries on a page; with page: 50 */
      page_size?: number;
    };
    response: Mail[];
  };
  /** List the texts of a service without a gateway, the newest first */
  'GET /text-messages': {
    query?: {
      /** Page, from 1; default: the whole list */
      page?: number;
      /** Entries on a page; with page: 50 */
      page_size?: number;
    };
    response: TextMessage[];
  };
  /** Read the audit trail */
  'GET /audit': {
    query?: {
      /** Position of the last row that is known; 0: from the first */
      after?: number;
      /** Rows after `after`; default 100 */
      limit?: number;
      /** Page, from 1 */
      page?: number;
      /** Rows on a page; default 50 */
      page_size?: number;
      /** Of pages; default asc: the oldest first */
      order?: 'asc' | 'desc';
      /** Noun, such as payment */
      entity?: string;
      entity_id?: string;
      client_id?: string;
      /** operator:<token> (or token:<token>, as in the change feed), staff:<name>, contact:<contact_id> or service:<part> */
      actor?: string;
      /** Recorded from then on: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      from?: string;
      /** Recorded before then, or up to the end of a day: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      to?: string;
    };
    response: AuditRow[];
  };
  /** List the heads of the chain, the newest first */
  'GET /audit/heads': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
      /** Recorded from then on: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      from?: string;
      /** Recorded before then, or up to the end of a day: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      to?: string;
    };
    response: AuditHead[];
  };
  /** Verify the chain of the audit trail */
  'GET /audit/verify': {
    query?: {
      /** Recorded from then on: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      from?: string;
      /** Recorded before then, or up to the end of a day: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      to?: string;
      /** A head that was kept, as `<position>:<hash>` */
      head?: string;
    };
    response: AuditVerification;
  };
  /** Read what has changed, in the order of the commits */
  'GET /changes': {
    query?: {
      /** A cursor, or `now`; default: from the oldest change kept */
      after?: string;
      /** Begins where this consumer has acknowledged */
      consumer?: string;
      limit?: number;
      /** Seconds to wait for a change, if there is none */
      wait?: number;
      /** Only of this client, its contacts included */
      client_id?: string;
      /** Comma list of client, contact, application, account, currency_account, beneficiary, trade, payment, approval, multipayment, mass_beneficiary, transaction, approval_configuration, subscription, statement_request */
      entities?: string;
    };
    response: Changes;
  };
  /** Acknowledge changes as a consumer; the first time creates it */
  'PUT /change-consumers/{name}': {
    path: {
      /** Name of the consumer */
      name: string;
    };
    query?: {
      /** Allow an earlier cursor */
      rewind?: boolean;
    };
    body: Acknowledgement;
    response: Consumer;
  };
  /** Forget a consumer */
  'DELETE /change-consumers/{name}': {
    path: {
      /** Name of the consumer */
      name: string;
    };
    response: undefined;
  };
  /** List the consumers of the change feed, with their lag */
  'GET /change-consumers': {
    query?: {
      /** Page, from 1; default: the whole list */
      page?: number;
      /** Entries on a page; with page: 50 */
      page_size?: number;
    };
    response: Consumer[];
  };
  /** Count and sum what payments and transactions did on a London day */
  'GET /reconciliation': {
    query: {
      /** London day, YYYY-MM-DD */
      date: string;
    };
    response: ReconciledCurrency[];
  };
  /** Tell whether the process runs */
  'GET /health/live': {
    response: Liveness;
  };
  /** Tell whether the service can answer */
  'GET /health/ready': {
    response: Ready;
  };
  /** Read how the service has done in the last hours */
  'GET /health-history': {
    query?: {
      /** Hours back from now */
      hours?: number;
    };
    response: HealthHistory;
  };
  /** Read the metrics in Prometheus' text format */
  'GET /metrics': {
    response: string;
  };
  /** Import clients, one JSON record a line */
  'POST /imports/clients': {
    query?: {
      /** stop: end at the first rejected line */
      on_error?: 'continue' | 'stop';
      /** A line whose identifier is in use: reject (the default) refuses it; skip counts it as unchanged where its content is the same; update changes the record as PATCH does (clients, contacts, beneficiaries, trades) */
      on_conflict?: 'reject' | 'skip' | 'update';
      /** Send the notifications that single calls cause; default: only payment-actions does */
      notify?: boolean;
    };
    /** A JSON record a line; each as the body of POST /clients */
    body: string;
    response: ImportAnswer;
  };
  /** Import contacts, one JSON record a line */
  'POST /imports/contacts': {
    query?: {
      /** stop: end at the first rejected line */
      on_error?: 'continue' | 'stop';
      /** A line whose identifier is in use: reject (the default) refuses it; skip counts it as unchanged where its content is the same; update changes the record as PATCH does (clients, contacts, beneficiaries, trades) */
      on_conflict?: 'reject' | 'skip' | 'update';
      /** Send the notifications that single calls cause; default: only payment-actions does */
      notify?: boolean;
    };
    /** A JSON record a line; each as the body of POST /contacts */
    body: string;
    response: ImportAnswer;
  };
  /** Import beneficiaries, one JSON record a line */
  'POST /imports/beneficiaries': {
    query?: {
      /** stop: end at the first rejected line */
      on_error?: 'continue' | 'stop';
      /** A line whose identifier is in use: reject (the default) refuses it; skip counts it as unchanged where its content is the same; update changes the record as PATCH does (clients, contacts, beneficiaries, trades) */
      on_conflict?: 'reject' | 'skip' | 'update';
      /** Send the notifications that single calls cause; default: only payment-actions does */
      notify?: boolean;
    };
    /** A JSON record a line; each as the body of POST /beneficiaries */
    body: string;
    response: ImportAnswer;
  };
  /** Import trades, one JSON record a line */
  'POST /imports/trades': {
    query?: {
      /** stop: end at the first rejected line */
      on_error?: 'continue' | 'stop';
      /** A line whose identifier is in use: reject (the default) refuses it; skip counts it as unchanged where its content is the same; update changes the record as PATCH does (clients, contacts, beneficiaries, trades) */
      on_conflict?: 'reject' | 'skip' | 'update';
      /** Send the notifications that single calls cause; default: only payment-actions does */
      notify?: boolean;
    };
    /** A JSON record a line; each as the body of POST /trades */
    body: string;
    response: ImportAnswer;
  };
  /** Import payments, one JSON record a line */
  'POST /imports/payments': {
    query?: {
      /** stop: end at the first rejected line */
      on_error?: 'continue' | 'stop';
      /** A line whose identifier is in use: reject (the default) refuses it; skip counts it as unchanged where its content is the same; update changes the record as PATCH does (clients, contacts, beneficiaries, trades) */
      on_conflict?: 'reject' | 'skip' | 'update';
      /** Send the notifications that single calls cause; default: only payment-actions does */
      notify?: boolean;
    };
    /** A JSON record a line; each as the body of POST /payments, and optionally status, uuid and dates */
    body: string;
    response: ImportAnswer;
  };
  /** Import transactions, one JSON record a line */
  'POST /imports/transactions': {
    query?: {
      /** stop: end at the first rejected line */
      on_error?: 'continue' | 'stop';
      /** A line whose identifier is in use: reject (the default) refuses it; skip counts it as unchanged where its content is the same; update changes the record as PATCH does (clients, contacts, beneficiaries, trades) */
      on_conflict?: 'reject' | 'skip' | 'update';
      /** Send the notifications that single calls cause; default: only payment-actions does */
      notify?: boolean;
    };
    /** A JSON record a line; each as the body of POST /transactions */
    body: string;
    response: ImportAnswer;
  };
  /** Import payment actions, one JSON record a line */
  'POST /imports/payment-actions': {
    query?: {
      /** stop: end at the first rejected line */
      on_error?: 'continue' | 'stop';
      /** A line whose identifier is in use: reject (the default) refuses it; skip counts it as unchanged where its content is the same; update changes the record as PATCH does (clients, contacts, beneficiaries, trades) */
      on_conflict?: 'reject' | 'skip' | 'update';
      /** Send the notifications that single calls cause; default: only payment-actions does */
      notify?: boolean;
    };
    /** A JSON record a line; each as the body of POST /payments/{payment_id}/actions, with payment_id */
    body: string;
    response: ImportAnswer;
  };
  /** List imports, the newest first */
  'GET /imports': {
    query?: {
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
      kind?: 'clients' | 'contacts' | 'beneficiaries' | 'trades' | 'payments' | 'transactions' | 'payment-actions';
      state?: 'running' | 'done' | 'interrupted';
    };
    response: ImportSummary[];
  };
  /** Read the progress of an import */
  'GET /imports/{import_id}': {
    path: {
      /** Import */
      import_id: string;
    };
    response: Import;
  };
  /** List webhook subscriptions */
  'GET /subscriptions': {
    query?: {
      /** Only of this client */
      client_id?: string;
      active?: 'true' | 'false';
      /** Whether its receiver fails now */
      failing?: 'true' | 'false';
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: Subscription[];
  };
  /** Send a subscription what it had in a period: what was sent, what waits, what it missed while inactive */
  'POST /subscriptions/{id}/replay': {
    path: {
      /** Subscription UUID */
      id: string;
    };
    body: ReplayInput;
    response: QueuedCount;
  };
  /** List notifications with their attempts, the newest first */
  'GET /notifications': {
    query?: {
      /** Only of this client */
      client_id?: string;
      /** Only of this subscription */
      subscription_id?: string;
      /** Only about this payment */
      payment_id?: string;
      status?: 'pending' | 'delivered' | 'failed' | 'cancelled';
      type?:
        | 'TRADE_STATUS_CHANGE'
        | 'PAYMENT_STATUS_CHANGE'
        | 'CREDIT_INCOMING_TRANSACTION'
        | 'CREDIT_MARGIN_TRANSACTION'
        | 'CREDIT_PAYMENT_RETURNED_TRANSACTION'
        | 'CREDIT_TRANSACTION'
        | 'DEBIT_TRANSACTION'
        | 'ONBOARDING_STATUS_CHANGE'
        | 'PING';
      /** Created from then on: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      from?: string;
      /** Created before then, or up to the end of a day: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      to?: string;
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: Notification[];
  };
  /** Read a notification with its attempts */
  'GET /notifications/{id}': {
    path: {
      /** Notification UUID */
      id: string;
    };
    response: Notification;
  };
  /** Send a notification again, with the same id and bytes */
  'POST /notifications/{id}/redeliver': {
    path: {
      /** Notification UUID */
      id: string;
    };
    response: QueuedCount;
  };
  /** List statement requests with their deliveries, the newest first */
  'GET /statements': {
    query?: {
      /** Only of this client */
      client_id?: string;
      /** Only requests with this status */
      status?: 'requested' | 'making' | 'retrying' | 'sent' | 'failed';
      /** Requested from then on: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      from?: string;
      /** Requested before then, or up to the end of a day: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      to?: string;
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: Statement[];
  };
  /** Read a statement request with its deliveries */
  'GET /statements/{id}': {
    path: {
      /** Request for a statement */
      id: string;
    };
    response: Statement;
  };
  /** Send a statement again */
  'POST /statements/{id}/send': {
    path: {
      /** Request for a statement */
      id: string;
    };
    response: DeliveryCount;
  };
  /** List refused requests, the newest first */
  'GET /requests': {
    query?: {
      /** The header x-request-id of the answer */
      request_id?: string;
      /** Only of this client */
      client_id?: string;
      /** Only of this contact */
      contact_id?: string;
      /** A status, as 404, or a class of them, as 4xx, for example `4xx` */
      status?: string;
      /** Answered from then on: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      from?: string;
      /** Answered before then, or up to the end of a day: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      to?: string;
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: RefusedRequest[];
  };
  /** List attempts to sign in, the newest first */
  'GET /sign-ins': {
    query?: {
      /** Only of this contact */
      contact_id?: string;
      /** Only with this email, in any case of letters */
      email?: string;
      /** Attempted from then on: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      from?: string;
      /** Attempted before then, or up to the end of a day: an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC) */
      to?: string;
      /** Page, from 1 */
      page?: number;
      /** Entries on a page */
      page_size?: number;
    };
    response: SignInAttempt[];
  };
}
