export type { Account, CurrencyAccount, StatementFormat, StatementPeriod } from './accounts.ts';
export type { Answer, CallOptions, InputOf, OperationName, OrderOptions, ResponseOf } from './api.ts';
export type {
  ApprovalsConfiguration,
  ApprovalsRehearsal,
  ApprovalsSettings,
  ApprovalsVersion,
  NewApprovalsConfiguration,
} from './approvals.ts';
export type { Balance } from './balances.ts';
export type { Beneficiary, BeneficiaryPatch, BeneficiaryQuery, NewBeneficiary } from './beneficiaries.ts';
export { decimal, parse, stringify } from './decimal.ts';
export type { DocumentType } from './documents.ts';
export { type BodyFault, LombardError } from './error.ts';
export type * from './generated/api.ts';
export type { List, Page } from './list.ts';
export { Lombard, type LombardOptions } from './lombard.ts';
export type {
  MassBeneficiary,
  MassBeneficiaryError,
  MassBeneficiaryMade,
  MassBeneficiaryStatus,
  NewMassBeneficiary,
  TakenMassBeneficiary,
  TriedMassBeneficiary,
} from './mass-beneficiaries.ts';
export type {
  InvalidInstruction,
  MassPayment,
  MassPaymentConfirmation,
  MassPaymentFileQuery,
  MassPaymentQuery,
  MassPaymentStatus,
  NewMassPayment,
  ReceivedInstruction,
  TakenMassPayment,
} from './mass-payments.ts';
export type { MultipaymentQuery, NewInstruction, OrderedMultipayment } from './multipayments.ts';
export {
  type Notification,
  type NotificationHeaders,
  type ReceivedNotification,
  verifyNotification,
  type WebhookType,
} from './notification.ts';
export type {
  ApprovalExplanation,
  ApprovalOptions,
  Challenge,
  CreatedPayment,
  Decided,
  DecisionOptions,
  Decisions,
  NewPayments,
  Payment,
  PaymentQuery,
} from './payments.ts';
export type { Estimate, NewQuote, Quote } from './quotes.ts';
export type { StatementProgress, StatementRequest } from './statements.ts';
export type { ExtraHeader, NewSubscription, Subscription, SubscriptionPatch } from './subscriptions.ts';
export type { Application, TokenSet } from './tokens.ts';
export type { BookedTrade, NewDrawdown, NewTrade, Trade, TradeFunds, TradeQuery } from './trades.ts';
export type { Transaction, TransactionQuery } from './transactions.ts';
export type {
  DeliveryAttempt,
  NotificationQuery,
  NotificationStatus,
  ReplayQuery,
  SentNotification,
} from './webhooks.ts';
