import assert from 'node:assert/strict';
import { MOVES, type PaymentAction } from '../../../src/payments/moves.ts';
import type { Round } from './round.ts';

const PAYMENT_ID = /"payment_id":"([^"]+)"/;
/** What is told of payments of erased persons can be taken back (docs/erasure.md): they are left out. */
const KEPT = 'p.contact_id not in (select contact_id from erasures)';

/** Every event has arrived with its own bytes, nothing else has, and each payment was announced, moved and approved once. */
export async function notificationsComplete({ system, known }: Round): Promise<void> {
  // The client that is reset has no subscription.
  const subscribed = known.lasting.map(({ clientId }) => clientId);
  const { rows: events } = await system.query(
    `select e.id::text, e.client_id, e.body from webhook_events e join payments p on p.payment_id = substring(e.body from $1)
     where e.type = 'PAYMENT_STATUS_CHANGE' and e.client_id = any ($2) and p.client_id = any ($2) and ${KEPT}`,
    [PAYMENT_ID.source, subscribed],
  );
  const erased = await system.query(`select p.payment_id as id from payments p where not (${KEPT})`);
  const left = new Set(erased.rows.map(({ id }) => id));
  const arrived = new Set<string>();
  const ids = new Map<string, string>();
  for (const { path, body, headers } of known.paymentDeliveries) {
    if (left.has(PAYMENT_ID.exec(body.toString())?.[1] ?? '')) continue;
    const text = `${path.slice(1)} ${body.toString()}`;
    arrived.add(text);
    const id = headers['x-service-notification-id'] ?? '';
    assert.equal(ids.get(id) ?? text, text, 'a notification has one body');
    ids.set(id, text);
  }
  const missing = events.filter(({ client_id, body }) => !arrived.has(`${client_id} ${body}`));
  assert.deepEqual(
    missing.map(({ id }) => id),
    [],
    'every event arrived',
  );
  const written = new Set(events.map(({ client_id, body }) => `${client_id} ${body}`));
  assert.deepEqual(
    [...arrived].filter((text) => !written.has(text)),
    [],
    'nothing arrived that was not committed',
  );

  const told = events
    .map(({ body }) => JSON.parse(body))
    .map(({ data, payment_webhook_status }) => `${data[0].payment_id} ${payment_webhook_status[0]}`);
  const created = told.filter((each) => each.endsWith(' CREATED'));
  const payments = await system.query(
    `select p.payment_id || ' CREATED' as text from payments p where p.client_id = any ($1) and ${KEPT}`,
    [subscribed],
  );
  assert.deepEqual(
    created.toSorted(),
    payments.rows.map(({ text }) => text).toSorted(),
    'each payment was announced once',
  );
  const moves = await system.query(
    `select a.entity_id as id, a.after->>'action' as action from audit a join payments p on p.payment_id = a.entity_id
     where a.entity = 'payment' and a.action = 'action' and p.client_id = any ($1) and ${KEPT}`,
    [subscribed],
  );
  const expected = moves.rows
    .filter(({ action }) => action !== 'authorise')
    .map(({ id, action }) => `${id} ${MOVES[action as PaymentAction].webhook}`)
    .filter((each) => !each.endsWith(' null'));
  const moved = told.filter((each) => !/ (CREATED|PENDING_OF_AUTHORIZATION|AUTHORIZED)$/.test(each));
  assert.deepEqual(moved.toSorted(), expected.toSorted(), 'each move was told once');
  // By the last approval, or at once where none is needed or the maker's code for its file is one.
  const complete = await system.query(
    `select p.payment_id || ' AUTHORIZED' as text from payments p left join payment_approvals pa on pa.payment_id = p.id
     where p.client_id = any ($1) and ${KEPT}
       and (pa.payment_id is null or (pa.requirement->>'own')::boolean and (pa.requirement->>'creation_counts')::boolean
         or exists (select from audit a where a.entity = 'payment' and a.entity_id = p.payment_id
           and a.after->>'action' = 'authorise' and a.after->>'status' <> a.before->>'status'))`,
    [subscribed],
  );
  const authorised = told.filter((each) => each.endsWith(' AUTHORIZED'));
  assert.deepEqual(
    authorised.toSorted(),
    complete.rows.map(({ text }) => text).toSorted(),
    'each approved payment was told once',
  );
}
