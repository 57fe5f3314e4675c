import type { Act } from '../../audit/act.ts';
import type { Context } from '../../context.ts';
import { withinCell } from '../../database/cells/connection.ts';
import { inCellsOf } from '../../database/cells/directory.ts';
import { type Transaction, transaction } from '../../database/database.ts';
import { LOCKS } from '../../database/locks.ts';
import { updateApplication } from '../../identity/applications/application.ts';
import type { ImportScope } from '../../imports/kind.ts';
import { createMassBeneficiary } from '../../orders/mass-beneficiaries/record.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { londonDay } from '../../values/calendar.ts';
import { putAccounts } from './accounts.ts';
import {
  type ChosenClient,
  DEMO_APPLICATION,
  DEMO_CLIENTS,
  DEMO_CONTACTS,
  DEMO_MASS_BENEFICIARY,
  sampleRedirect,
} from './institution.ts';
import { putMarkets } from './markets.ts';
import { putBeneficiaries, putParties } from './parties.ts';
import { putPayments } from './payments.ts';

/** The redirect address of the sample application, on any port. */
const SAMPLE_REDIRECT = /^http:\/\/127\.0\.0\.1:\d+\/callback$/;

/**
 * Creates the demonstration institution in a database that has no clients yet, in one transaction; does nothing otherwise. It uses the
 * imports, so it takes only a second or two. Its approvals go through the approval workflow.
 * @returns whether it was created now
 */
export async function ensureDemonstration(context: Context): Promise<boolean> {
  const now = context.clock.now();
  const act: Act = { now, actor: 'service:demonstration', requestId: 'demonstration' };
  const scope: ImportScope = {
    act,
    vault: context.vault,
    presentation: presentationOf(context),
    notify: false,
  };
  return transaction(context.backgroundPool, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [LOCKS.demonstration]);
    if ((await tx.query('select from clients limit 1')).rows.length > 0) return false;
    const today = londonDay(now);
    await putParties(tx, scope, today);
    await putMarkets(tx, act, today);
    const ids = DEMO_CLIENTS.map((client) => client.client_id);
    await inCellsOf(tx, ids, async (there, begin) => {
      await begin();
      await putClientData(tx, scope, (clientId) => there.includes(clientId));
    });
    await advanceSequences(tx);
    return true;
  });
}

/**
 * Registers the redirect address of the sample application for the demonstration's application, if LOMBARD_SAMPLE_PORT asks for a port.
 * Addresses that a developer has registered stay.
 */
export async function registerSample({ backgroundPool, clock, config }: Context): Promise<void> {
  const wanted = sampleRedirect(config.samplePort);
  if (config.samplePort === undefined) return;
  const act: Act = { now: clock.now(), actor: 'service:demonstration', requestId: 'demonstration' };
  await transaction(backgroundPool, async (tx) => {
    const { rows } = await tx.query<{ redirect_uris: string[] }>(
      'select redirect_uris from applications where client_id = $1 for update',
      [DEMO_APPLICATION.client_id],
    );
    const [registered, ...others] = rows[0]?.redirect_uris ?? [];
    if (registered === wanted || others.length > 0 || !SAMPLE_REDIRECT.test(registered ?? '')) return;
    await updateApplication(tx, act, DEMO_APPLICATION.client_id, { redirect_uris: [wanted] });
  });
}

/** Creates everything that a reset of a client creates again. @param chosen whether a client's data is created */
export async function putClientData(tx: Transaction, scope: ImportScope, chosen: ChosenClient): Promise<void> {
  await putBeneficiaries(tx, scope, chosen);
  await putAccounts(tx, scope, chosen);
  await putPayments(tx, scope, chosen);
  if (chosen(DEMO_MASS_BENEFICIARY.client_id)) await createMassBeneficiary(tx, scope.act, DEMO_MASS_BENEFICIARY);
}

/** Whether the demonstration made a client. Another client may have the same identifier, but not the same people. */
export async function isDemonstrated(tx: Transaction, clientId: string): Promise<boolean> {
  if (!DEMO_CLIENTS.some((client) => client.client_id === clientId)) return false;
  const { rows } = await tx.query(
    `select from contact_clients cc join contacts c using (contact_id)
     where cc.client_id = $1 and (cc.contact_id, c.email) in (select * from unnest($2::text[], $3::text[])) limit 1`,
    [clientId, DEMO_CONTACTS.map((contact) => contact.contact_id), DEMO_CONTACTS.map((contact) => contact.email)],
  );
  return rows.length > 0;
}

/**
 * Lets new identifiers continue after those of the demonstration. Further cells number their currency accounts beyond them, and the view
 * over all cells has no sequence.
 */
async function advanceSequences(tx: Transaction): Promise<void> {
  await withinCell(tx, 'all', () =>
    tx.query(`select setval(s.name::regclass, greatest(s.used, 1)) from (values
      ('client_numbers', (select count(*) from clients)), ('contact_numbers', (select count(*) from contacts)),
      ('beneficiary_numbers', (select count(*) from beneficiaries)), ('trade_numbers', (select count(*) from trades)),
      ('payment_numbers', (select count(*) from payments)), ('multipayment_numbers', (select count(*) from multipayments)),
      (pg_get_serial_sequence('currency_accounts', 'account_id'), (select count(*) from currency_accounts))
    ) as s (name, used)`),
  );
}
