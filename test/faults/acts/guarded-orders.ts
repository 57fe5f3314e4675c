import { call } from '../../world/service.ts';
import { until } from '../../world/until.ts';
import type { Caller } from '../caller.ts';
import { refused } from '../ledger.ts';
import { fileOf, orderOf } from './bodies.ts';
import { credit } from './orders.ts';
import { approveTogether, type Guarded, proofOf, withCodes } from './second-factors.ts';

const PERMISSIONS = ['can_create_payments', 'can_manage_multipayments', 'can_manage_beneficiaries', 'can_trade'];
const JUDGED_SECONDS = 20;

/** A person orders payments, or sends a file. They wait for its own code, and one code stands for all. Without a second factor nobody orders. */
export async function orderWithCode(at: Caller): Promise<void> {
  const own = at.of(at.known.alone);
  await credit(own);
  const order = { path: '/payments', body: orderOf(own), silent: true };
  refused(await own.client('order without a second factor', own.party.orders.tokens[0], order));
  await withCodes(own, PERMISSIONS, async (person, token) => {
    if (at.random.next() < 0.5) return confirmWithCode(own, person, token);
    const body = orderOf(own);
    const marks = body.payments.map(({ reference }) => reference);
    const ordered = await own.order('order that needs a code', token, {
      path: '/payments',
      ...{ body, table: 'payments', marks },
    });
    if (ordered.status !== 201) return;
    const made = ordered.answer?.body as { payment_id: string; status: string }[];
    if (made.some(({ status }) => status !== 'Payment pending of authorization'))
      throw new Error(`an order does not wait for its code: ${ordered.answer?.text}`);
    await approveTogether(
      own,
      person,
      token,
      made.map(({ payment_id: id }) => id),
    );
  });
}

async function confirmWithCode(at: Caller, { readCode }: Guarded, token: string): Promise<void> {
  const body = fileOf(at);
  const { status, answer } = await at.order('file that needs a code', token, {
    ...{ path: '/mass-payments', body, table: 'mass_payments', marks: [body.external_reference_id] },
  });
  const id: string = answer?.body.mass_payment_id;
  if (status !== 202 || !(await isHeld(at, id, token))) return;
  const path = `/mass-payments/${id}`;
  const confirm = (what: string, proof: object = {}) => at.order(what, token, { path: `${path}/confirm`, body: proof });
  refused(await confirm('file confirmed without a code'));
  const proof = await proofOf(at, readCode, token, { path: `${path}/challenges`, body: {} });
  if (!proof) return;
  refused(await confirm('file confirmed with a wrong code', proof.wrong));
  const confirmed = await confirm('file confirmed with a code', proof.right);
  if (confirmed.status === undefined || confirmed.status === 202) at.known.confirmedFiles.push(id);
}

/** Waits until a file is judged and waits for its maker. */
function isHeld(at: Caller, id: string, token: string): Promise<boolean> {
  const look = async () => {
    const url = `${at.front().api}/mass-payments/${id}?client_id=${at.party.clientId}`;
    const { body } = await call(url, 'GET', { token }).catch(() => ({ body: undefined }));
    return body?.mass_payment_status === 'Processed';
  };
  return until(look, { seconds: JUDGED_SECONDS }).catch(() => false);
}
