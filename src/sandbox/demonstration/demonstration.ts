import { londonDay } from '../../calendar.ts';
import type { Act, Context } from '../../context.ts';
import { type Transaction, transaction } from '../../database.ts';
import type { ImportScope } from '../../imports/kind.ts';
import { LOCKS } from '../../locks.ts';
import { createMassBeneficiary } from '../../payments/mass-beneficiary.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { setRates } from '../../quotes/exchange-rates.ts';
import { putAccounts } from './accounts.ts';
import { DEMO_RATES } from './banks.ts';
import { DEMO_MASS_BENEFICIARY } from './institution.ts';
import { putParties } from './parties.ts';
import { putPayments } from './payments.ts';

/**
 * Creates the demonstration institution in a database that has no client yet, in one transaction; does nothing otherwise. It goes
 * through the imports, so it takes a second or two; its approvals go through the approval workflow.
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
    await setRates(tx, act, { base_currency: 'GBP', rates: DEMO_RATES });
    await putAccounts(tx, scope, today);
    await putPayments(tx, scope);
    await createMassBeneficiary(tx, act, DEMO_MASS_BENEFICIARY);
    await advanceSequences(tx);
    return true;
  });
}

/** Lets new identifiers continue after those of the demonstration. */
async function advanceSequences(tx: Transaction): Promise<void> {
  await tx.query(`select setval(s.name::regclass, greatest(s.used, 1)) from (values
    ('client_numbers', (select count(*) from clients)), ('contact_numbers', (select count(*) from contacts)),
    ('beneficiary_numbers', (select count(*) from beneficiaries)), ('trade_numbers', (select count(*) from trades)),
    ('payment_numbers', (select count(*) from payments)), ('multipayment_numbers', (select count(*) from multipayments))
  ) as s (name, used)`);
}
