import assert from 'node:assert/strict';
import { APPLICATION, call } from '../../world/service.ts';
import type { Round } from './round.ts';

/** Each takes a tenth of a second of a process, and a wrong password counts against its person. */
const MAX_PASSWORDS = 20;

/**
 * The approvals of the clients that need codes are those that were given with one, each once. The code of a file approves its payments in the
 * name of its maker. No order leaves without one. A password that was changed is refused, and the new one signs in.
 */
export async function secondFactorsHold({ system, known }: Round): Promise<void> {
  const { rows } = await system.query(
    `select p.payment_id || ' ' || (a.value->>'contact_id') as id from payment_approvals pa
     join payments p on p.client_id = pa.client_id and p.id = pa.payment_id, json_array_elements(pa.authorisations) a
     where pa.client_id = any ($1)
       and (a.value->>'contact_id' <> p.contact_id or p.mass_payment_id is null or p.mass_payment_id::text <> all ($2))`,
    [[known.guarded.clientId, known.alone.clientId], known.confirmedFiles],
  );
  const approvals = rows.map(({ id }) => id as string);
  const given = known.stepUps.map(({ paymentId, contactId, answered }) => ({
    id: `${paymentId} ${contactId}`,
    answered,
  }));
  const faults = given
    .filter(({ id, answered }) => answered && !approvals.includes(id))
    .map(({ id }) => `the approval ${id} was answered and is not there`);
  for (const id of approvals)
    if (!given.some((each) => each.id === id)) faults.push(`the approval ${id} was given without a code`);
  if (new Set(approvals).size !== approvals.length) faults.push(`an approval is there twice: ${approvals.join()}`);

  const { rows: left } = await system.query(
    `select payment_id from payments where client_id = $1 and status <> 'Payment pending of authorization'
       and payment_id <> all ($2) and (mass_payment_id is null or mass_payment_id::text <> all ($3))`,
    [known.alone.clientId, known.stepUps.map(({ paymentId }) => paymentId), known.confirmedFiles],
  );
  for (const { payment_id: id } of left) faults.push(`the order ${id} has left without a code`);

  const signIn = async (email: string, password: string) => {
    const form = { email, password, client_id: APPLICATION.client_id, state: 'faults' };
    const { status } = await call(`${system.fronts.at(-1)?.auth}/authenticate`, 'POST', {
      raw: new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'no-redirect': 'application/json' },
    });
    return status;
  };
  for (const { email, password, former } of known.passwords.slice(-MAX_PASSWORDS)) {
    const [old, now] = [await signIn(email, former), await signIn(email, password)];
    if (old < 400 || now !== 200) faults.push(`${email}: the former password is answered ${old}, the new one ${now}`);
  }
  assert.deepEqual(faults, []);
}
