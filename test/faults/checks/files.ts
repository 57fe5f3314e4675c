import assert from 'node:assert/strict';
import type { Round } from './round.ts';

const FINAL = ['Created', 'Cancelled', 'Failed'];
const NOTIFIED = ['MassPaymentStatusChange', 'MassBeneficiaryStatusChange'];

interface File {
  id: string;
  status: string;
  received: number;
  errored: number;
  made: number;
  waits: boolean;
  error: object | null;
  valid: number;
  invalid: number;
  created: number;
  payments: number;
  own: number;
}

/** Each row of a file is one payment or tells why not, each payee is there once, and each step was told once. */
export async function filesDoneOnce(round: Round): Promise<void> {
  const { system } = round;
  const { rows } = await system.query(
    `select m.mass_payment_id as id, m.status, m.received, m.errored, m.made, m.error, r.*, p.*,
       m.status = 'Processed' and (m.errored > 0 or m.error is not null or not m.auto_commit or c.approval_step_up) as waits
     from mass_payments m join clients c using (client_id),
       lateral (select count(*) filter (where status = 'valid')::int as valid, count(*) filter (where status = 'invalid')::int as invalid,
          count(*) filter (where status = 'created')::int as created from mass_payment_rows where mass_payment_id = m.mass_payment_id) r,
       lateral (select count(*)::int as payments, count(*) filter (where exists (select from mass_payment_rows w
            where w.mass_payment_id = m.mass_payment_id and w.request_index = p.request_index and w.payment_id = p.payment_id
              and w.sent->>'payment_reference' = p.reference and (w.sent->>'payment_amount')::numeric = p.amount))::int as own
          from payments p where p.client_id = m.client_id and p.mass_payment_id = m.mass_payment_id) p`,
  );
  const faults: string[] = [];
  for (const file of rows as File[]) {
    const { status, received, errored, made, valid, invalid, created, payments, own } = file;
    const what = JSON.stringify(file);
    if (!FINAL.includes(status) && !file.waits) faults.push(`does not end: ${what}`);
    if (status === 'Created' && created + invalid !== received) faults.push(`has rows that are neither: ${what}`);
    if (status === 'Failed' && !file.error) faults.push(`does not tell why it failed: ${what}`);
    if (valid + invalid + created !== received || invalid !== errored || created !== made)
      faults.push(`counts its rows wrongly: ${what}`);
    if (payments !== created || own !== created) faults.push(`has other payments than rows: ${what}`);
    if (status !== 'Created' && payments > 0) faults.push(`has payments: ${what}`);
  }
  const { rows: payees } = await system.query(
    `select id from (select mass_beneficiary_id::text as id, status, received, made, errored,
         (select count(*) from mass_beneficiary_rows r where r.mass_beneficiary_id = m.mass_beneficiary_id and r.beneficiary_id is not null) as there
       from mass_beneficiaries m where created_by is not null) i
     where made + errored <> received or made <> there or status <> case when made > 0 then 'created' else 'failed' end
     union all
     select beneficiary_name from beneficiaries where beneficiary_name ~ '^F\\d+-\\d+$' group by 1 having count(*) > 1`,
  );
  faults.push(...payees.map(({ id }) => `payees are not made once: ${id}`));
  assert.deepEqual(faults, []);
  await stepsTold(round);
}

/** Each status after the first has one notification, which has arrived. */
async function stepsTold({ system, known }: Round): Promise<void> {
  const clients = known.lasting.map(({ clientId }) => clientId);
  const { rows } = await system.query(
    `select entity_id || ' ' || now as step from (
       select entity_id, coalesce(after->>'mass_payment_status', after->>'status') as now,
         coalesce(before->>'mass_payment_status', before->>'status') as former
       from audit where entity in ('mass_payment', 'mass_beneficiary') and action = 'update' and client_id = any ($1)) s
     where now <> former`,
    [clients],
  );
  const arrived = new Map(
    known.receiver.received
      .filter(({ headers }) => NOTIFIED.includes(headers['x-service-webhook'] ?? ''))
      .map(({ headers, body }) => [headers['x-service-notification-id'], JSON.parse(body.toString()).data[0]]),
  );
  const told = [...arrived.values()].map((each) =>
    [each.mass_payment_id ?? each.mass_beneficiary_id, each.mass_payment_status ?? each.status].join(' '),
  );
  assert.deepEqual(told.toSorted(), rows.map(({ step }) => step).toSorted(), 'each step was told once');
}
