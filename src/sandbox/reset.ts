import { takeLock } from '../approvals/lock.ts';
import { audit } from '../audit.ts';
import type { Act } from '../context.ts';
import type { Transaction } from '../database.ts';
import { noteReset } from '../feed/removal.ts';
import type { ImportScope } from '../imports/kind.ts';
import { lendRates } from '../quotes/exchange-rates.ts';
import { removeNotifications } from '../webhooks/removal.ts';
import { DEMO_RATES } from './demonstration/banks.ts';
import { isDemonstrated, putClientData } from './demonstration/demonstration.ts';

/** What a client has, each table before those that it refers to. */
const TABLES = [
  ...['step_up_challenges', 'payment_notices', 'payment_decisions', 'payment_approvers', 'payment_approvals'],
  ...['payments', 'transactions'],
  ...[
    'statement_deliveries',
    'statement_sections',
    'statement_requests',
    'mass_beneficiary_errors',
    'mass_beneficiaries',
  ],
  ...[
    'trade_beneficiaries',
    'trades',
    'multipayments',
    'beneficiary_changes',
    'beneficiaries',
    'currency_accounts',
    'accounts',
    'approval_configurations',
  ],
];

/**
 * Removes a client's data, and makes the demonstration's again if the demonstration made the client, in the caller's transaction
 * (docs/sandbox.md, Start again). Nobody is notified, and pending deliveries are not sent. The whole has one audit row. Contacts,
 * tokens, applications and subscriptions stay.
 */
export async function resetClient(
  tx: Transaction,
  act: Act,
  { clientId, scope }: { clientId: string; scope: Pick<ImportScope, 'vault' | 'presentation'> },
): Promise<void> {
  // Nobody creates payments of the client, or acts on them, until it is done.
  await takeLock(tx, clientId);
  // First: in the change feed the cause comes before its effects.
  await audit(tx, act, {
    action: 'action',
    entity: 'client',
    entityId: clientId,
    clientId,
    after: { action: 'reset' },
  });
  await noteReset(tx, act, scope.presentation, clientId);
  for (const table of TABLES) await tx.query(`delete from ${table} where client_id = $1`, [clientId]);
  await removeNotifications(tx, clientId);
  if (await isDemonstrated(tx, clientId)) {
    const made: Act = { ...act, actor: 'service:demonstration', summarised: true };
    // The institution may have replaced the rates that the demonstration's payments need.
    await lendRates(tx, { base_currency: 'GBP', rates: DEMO_RATES }, () =>
      putClientData(tx, { ...scope, act: made, notify: false }, (id) => id === clientId),
    );
  }
}
