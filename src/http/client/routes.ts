import type { Drawing } from '../../documents/document.ts';
import type { Sessions } from '../../identity/tokens/sessions.ts';
import type { LateEndpoint } from '../graphql/late-endpoint.ts';
import { INTEGRATORS } from '../site/audience.ts';
import { siteRoutes } from '../site/site.ts';
import { accountDetailsRoutes } from './account-details.ts';
import { accountRoutes } from './accounts.ts';
import { approvalRoutes } from './approvals.ts';
import { balanceRoutes } from './balances.ts';
import { clientBeneficiaryRoutes } from './beneficiaries.ts';
import { challengeRoutes } from './challenges.ts';
import { currencyRoutes } from './currencies.ts';
import { documentRoutes } from './documents.ts';
import { graphqlRoutes } from './graphql.ts';
import type { ClientRoutes } from './listener.ts';
import { manyDecisionRoutes } from './many-decisions.ts';
import { massBeneficiaryRoutes } from './mass-beneficiaries.ts';
import { massPaymentRoutes } from './mass-payments.ts';
import { metadataRoutes } from './metadata.ts';
import { multipaymentRoutes } from './multipayments.ts';
import { onboardingRoutes } from './onboarding.ts';
import { paymentActionRoutes } from './payment-actions.ts';
import { paymentInitiationRoutes } from './payment-initiations.ts';
import { paymentOrderRoutes } from './payment-orders.ts';
import { paymentSearchRoutes } from './payments.ts';
import { peopleRoutes } from './people.ts';
import { pingRoutes } from './ping.ts';
import { quoteRoutes } from './quotes.ts';
import { sandboxRoutes } from './sandbox.ts';
import { statementFileRoutes } from './statement-files.ts';
import { statementRoutes } from './statements.ts';
import { streamRoutes } from './stream.ts';
import { clientTradeRoutes } from './trades.ts';
import { transactionRoutes } from './transactions.ts';
import { webhookRoutes } from './webhooks.ts';

/** The operations of the client API, for the client listener and for the trusted one. */
export function clientRoutes(sessions: Sessions, drawing: Drawing, graphql: LateEndpoint): ClientRoutes[] {
  return [
    accountRoutes,
    accountDetailsRoutes,
    balanceRoutes,
    transactionRoutes,
    currencyRoutes,
    peopleRoutes,
    pingRoutes,
    paymentSearchRoutes,
    paymentOrderRoutes,
    approvalRoutes,
    paymentActionRoutes,
    challengeRoutes,
    quoteRoutes,
    manyDecisionRoutes,
    clientTradeRoutes,
    multipaymentRoutes,
    clientBeneficiaryRoutes,
    metadataRoutes,
    massBeneficiaryRoutes,
    massPaymentRoutes,
    paymentInitiationRoutes,
    graphqlRoutes(sessions, graphql),
    webhookRoutes,
    onboardingRoutes,
    streamRoutes(sessions),
    statementRoutes,
    statementFileRoutes,
    documentRoutes(drawing),
    sandboxRoutes,
    siteRoutes(INTEGRATORS),
  ];
}
