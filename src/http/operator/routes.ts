import { operatorAccountRoutes } from './accounts.ts';
import { operatorApplicationRoutes } from './applications.ts';
import { operatorBeneficiaryRoutes } from './beneficiaries.ts';
import { operatorClientRoutes } from './clients.ts';
import { operatorContactRoutes } from './contacts.ts';
import { operatorImportRoutes } from './imports.ts';
import type { OperatorRoutes } from './listener.ts';
import { operatorMultipaymentRoutes } from './multipayments.ts';
import { operatorPaymentRoutes } from './payments.ts';
import { operatorStatementRoutes } from './statements.ts';
import { operatorSystemRoutes } from './system.ts';
import { operatorTokenRoutes } from './tokens.ts';
import { operatorTradeRoutes } from './trades.ts';
import { operatorWebhookRoutes } from './webhooks.ts';

/** The operations of the operator interface. */
export const operatorRoutes: OperatorRoutes[] = [
  operatorTokenRoutes,
  operatorClientRoutes,
  operatorContactRoutes,
  operatorApplicationRoutes,
  operatorBeneficiaryRoutes,
  operatorTradeRoutes,
  operatorPaymentRoutes,
  operatorMultipaymentRoutes,
  operatorAccountRoutes,
  operatorSystemRoutes,
  operatorImportRoutes,
  operatorWebhookRoutes,
  operatorStatementRoutes,
];
