import type { AccountDetailsOperations } from '../../src/http/operator/account-details.ts';
import type { AccountOperations } from '../../src/http/operator/accounts.ts';
import type { ApplicationOperations } from '../../src/http/operator/applications.ts';
import type { ApprovalsConfigurationOperations } from '../../src/http/operator/approvals-configurations.ts';
import type { AuditOperations } from '../../src/http/operator/audit.ts';
import type { BeneficiaryOperations } from '../../src/http/operator/beneficiaries.ts';
import type { ChangeOperations } from '../../src/http/operator/changes.ts';
import type { ClientOperations } from '../../src/http/operator/clients.ts';
import type { ClockOperations } from '../../src/http/operator/clock.ts';
import type { ContactLockOperations } from '../../src/http/operator/contact-lock.ts';
import type { ContactOperations } from '../../src/http/operator/contacts.ts';
import type { CurrencyOperations } from '../../src/http/operator/currencies.ts';
import type { CurrencyAccountOperations } from '../../src/http/operator/currency-accounts.ts';
import type { ExchangeRateOperations } from '../../src/http/operator/exchange-rates.ts';
import type { ForwardPointsOperations } from '../../src/http/operator/forward-points.ts';
import type { FxAvailabilityOperations } from '../../src/http/operator/fx-availability.ts';
import type { HealthOperations } from '../../src/http/operator/health.ts';
import type { HoldOperations } from '../../src/http/operator/holds.ts';
import type { ImportOperations } from '../../src/http/operator/imports.ts';
import type { MailboxOperations } from '../../src/http/operator/mailbox.ts';
import type { MassPaymentOperations } from '../../src/http/operator/mass-payments.ts';
import type { NotificationOperations } from '../../src/http/operator/notifications.ts';
import type { OnboardingOperations } from '../../src/http/operator/onboarding.ts';
import type { PaymentSchemeOperations } from '../../src/http/operator/payment-schemes.ts';
import type { PaymentOperations } from '../../src/http/operator/payments.ts';
import type { PricingOperations } from '../../src/http/operator/pricing.ts';
import type { QuoteOperations } from '../../src/http/operator/quotes.ts';
import type { RequestOperations } from '../../src/http/operator/requests.ts';
import type { SignInOperations } from '../../src/http/operator/sign-ins.ts';
import type { StatementOperations } from '../../src/http/operator/statements.ts';
import type { SubscriptionOperations } from '../../src/http/operator/subscriptions.ts';
import type { TokenOperations } from '../../src/http/operator/tokens.ts';
import type { TradeOperations } from '../../src/http/operator/trades.ts';
import type { AnswerOf, Operation, RouteOf } from '../../src/http/schemas/operation.ts';
import { type Answer, type CallOptions, call, pathText } from './call.ts';

/** Where the operator interface is served to the console, with the cookie in place of a token. */
const OPERATOR_API = '/console/api';

/** The operations of the operator interface that the console may call. */
type Operations =
  | AccountOperations
  | CurrencyAccountOperations
  | TradeOperations
  | QuoteOperations
  | PricingOperations
  | CurrencyOperations
  | ForwardPointsOperations
  | PaymentSchemeOperations
  | AccountDetailsOperations
  | BeneficiaryOperations
  | ApplicationOperations
  | ApprovalsConfigurationOperations
  | AuditOperations
  | ChangeOperations
  | ClientOperations
  | ClockOperations
  | ContactOperations
  | ContactLockOperations
  | ExchangeRateOperations
  | FxAvailabilityOperations
  | HealthOperations
  | HoldOperations
  | ImportOperations
  | MailboxOperations
  | MassPaymentOperations
  | NotificationOperations
  | TokenOperations
  | OnboardingOperations
  | PaymentOperations
  | RequestOperations
  | SignInOperations
  | StatementOperations
  | SubscriptionOperations;
export type Address = Operations['address'];
type At<A extends Address> = Extract<Operations, { address: A }>;

/** The answer of an operation. */
export type Answered<A extends Address> = AnswerOf<At<A>>;
/** The body that an operation takes. */
export type BodyOf<A extends Address> = RouteOf<At<A>>['Body'];

/** What an operation takes: `path`, `query` and `body`, if it has them. */
type Taken<O extends Operation> = Part<O, 'params', { path: { [Name in keyof RouteOf<O>['Params']]: string } }> &
  Part<O, 'body', { body: RouteOf<O>['Body'] }> &
  Part<
    O,
    'querystring',
    object extends RouteOf<O>['Querystring']
      ? { query?: RouteOf<O>['Querystring'] }
      : { query: RouteOf<O>['Querystring'] }
  >;
type Part<O extends Operation, Name extends string, Given> =
  O['schema'] extends Record<Name, unknown> ? Given : unknown;

/** Calls an operation of the operator interface as the staff member who is signed in. @throws CallError */
export function callOperator<A extends Address>(
  operation: A,
  given: Taken<At<A>> & Pick<CallOptions, 'signal' | 'headers'>,
): Promise<Answer<Answered<A>>> {
  const { path, query, body, signal, headers }: { path?: object } & CallOptions = given;
  const [method = '', template = ''] = operation.split(' ');
  return call(method, OPERATOR_API + pathText(template, path), {
    query,
    body,
    signal,
    ...(headers ? { headers } : {}),
  });
}
