import { INSTITUTION } from '../site/audience.ts';
import { siteRoutes } from '../site/site.ts';
import { operatorAccountDetailsRoutes } from './account-details.ts';
import { operatorAccountRoutes } from './accounts.ts';
import { operatorApplicationRoutes } from './applications.ts';
import { operatorApprovalsConfigurationRoutes } from './approvals-configurations.ts';
import { operatorAuditRoutes } from './audit.ts';
import { operatorBeneficiaryRoutes } from './beneficiaries.ts';
import { operatorChangeRoutes } from './changes.ts';
import { operatorClientRoutes } from './clients.ts';
import { operatorClockRoutes } from './clock.ts';
import { operatorContactLockRoutes } from './contact-lock.ts';
import { operatorContactRoutes } from './contacts.ts';
import { operatorCurrencyRoutes } from './currencies.ts';
import { operatorCurrencyAccountRoutes } from './currency-accounts.ts';
import { operatorExchangeRateRoutes } from './exchange-rates.ts';
import { operatorForwardPointRoutes } from './forward-points.ts';
import { operatorFxAvailabilityRoutes } from './fx-availability.ts';
import { operatorHealthRoutes } from './health.ts';
import { operatorHoldRoutes } from './holds.ts';
import { operatorImportRoutes } from './imports.ts';
import type { OperatorRoutes } from './listener.ts';
import { operatorMailboxRoutes } from './mailbox.ts';
import { operatorMassBeneficiaryRoutes } from './mass-beneficiaries.ts';
import { operatorMassPaymentRoutes } from './mass-payments.ts';
import { operatorMultipaymentRoutes } from './multipayments.ts';
import { operatorNotificationRoutes } from './notifications.ts';
import { operatorOnboardingRoutes } from './onboarding.ts';
import { operatorPaymentSchemeRoutes } from './payment-schemes.ts';
import { operatorPaymentRoutes } from './payments.ts';
import { operatorPricingRoutes } from './pricing.ts';
import { operatorQuoteRoutes } from './quotes.ts';
import { operatorRequestRoutes } from './requests.ts';
import { operatorSignInRoutes } from './sign-ins.ts';
import { operatorStatementRoutes } from './statements.ts';
import { operatorSubscriptionRoutes } from './subscriptions.ts';
import { operatorTokenRoutes } from './tokens.ts';
import { operatorTradeRoutes } from './trades.ts';
import { operatorTransactionRoutes } from './transactions.ts';

/** The operations of the operator interface. */
export const operatorRoutes: OperatorRoutes[] = [
  operatorTokenRoutes,
  operatorClientRoutes,
  operatorContactRoutes,
  operatorContactLockRoutes,
  operatorApprovalsConfigurationRoutes,
  operatorApplicationRoutes,
  operatorBeneficiaryRoutes,
  operatorTradeRoutes,
  operatorPaymentRoutes,
  operatorMultipaymentRoutes,
  operatorMassBeneficiaryRoutes,
  operatorMassPaymentRoutes,
  operatorAccountRoutes,
  operatorCurrencyAccountRoutes,
  operatorAccountDetailsRoutes,
  operatorHoldRoutes,
  operatorTransactionRoutes,
  operatorOnboardingRoutes,
  operatorFxAvailabilityRoutes,
  operatorExchangeRateRoutes,
  operatorCurrencyRoutes,
  operatorPricingRoutes,
  operatorForwardPointRoutes,
  operatorQuoteRoutes,
  operatorPaymentSchemeRoutes,
  operatorClockRoutes,
  operatorMailboxRoutes,
  operatorAuditRoutes,
  operatorChangeRoutes,
  operatorHealthRoutes,
  operatorImportRoutes,
  operatorSubscriptionRoutes,
  operatorNotificationRoutes,
  operatorStatementRoutes,
  operatorRequestRoutes,
  operatorSignInRoutes,
  siteRoutes(INSTITUTION),
];
