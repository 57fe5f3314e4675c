import { type Answer, APPLICATION } from '../../world/service.ts';
import type { Caller } from '../caller.ts';
import { authenticator, type ReadCode, texts } from '../codes.ts';
import { refused } from '../ledger.ts';

/** The least of nine digits of a phone. */
const FIRST_PHONE = 100_000_000;

/** A person with a second factor. */
export interface Guarded {
  contactId: string;
  credentials: { email: string; password: string };
  readCode: ReadCode;
}

/**
 * A new approver signs in with a second factor and approves a payment with another code, or several with one. Wrong codes, and codes that
 * were used, are refused.
 */
export async function approveWithCode(at: Caller): Promise<void> {
  const own = at.of(at.known.guarded);
  await withCodes(own, ['can_authorise_payments'], async (approver, token) => {
    const made = [await payGuarded(own), ...(at.random.next() < 0.5 ? [await payGuarded(own)] : [])];
    const ids = made.filter((id) => id !== undefined);
    if (ids.length > 1) await approveTogether(own, approver, token, ids);
    else if (ids[0]) await approvePayment(own, approver, token, ids[0]);
  });
}

/** A new person signs in with a second factor, acts, and leaves, so that nobody has too many approvers. */
export async function withCodes(
  at: Caller,
  permissions: string[],
  act: (person: Guarded, token: string) => Promise<void>,
): Promise<void> {
  const person = await hireGuarded(at, permissions);
  const token = person && (await signInWithCode(at, person));
  if (token === undefined) return;
  await act(person as Guarded, token.access);
  const path = `/contacts/${person?.contactId}`;
  const left = await at.operator('person with codes disabled', { method: 'PATCH', path, body: { status: 'disabled' } });
  if (left.status === 200) at.known.sessions.push({ ...token, revoked: true });
}

async function hireGuarded(at: Caller, permissions: string[]): Promise<Guarded | undefined> {
  const name = at.ledger.mark();
  const credentials = { email: `${name}@example.com`, password: `a password of ${name}` };
  const phone = `+44${at.random.whole(FIRST_PHONE, 10 * FIRST_PHONE - 1)}`;
  const second_factor = at.random.pick(['totp', 'sms']);
  const clients = [{ client_id: at.party.clientId, permissions }];
  const { status, answer } = await at.operator('person with a second factor', {
    ...{
      path: '/contacts',
      body: { name, ...credentials, phone, second_factor, clients },
      table: 'contacts',
      marks: [name],
    },
  });
  if (status !== 201) return undefined;
  const { contact_id: contactId, totp } = (answer as Answer).body as { contact_id: string; totp?: { secret: string } };
  const readCode = totp ? authenticator(at, totp.secret) : texts(at, phone);
  return { contactId, credentials, readCode };
}

async function signInWithCode(
  at: Caller,
  { credentials, readCode }: Guarded,
): Promise<{ access: string; refresh: string } | undefined> {
  const client = { client_id: APPLICATION.client_id };
  const asked = { ...credentials, ...client, state: 'faults' };
  const begun = await at.authorization('sign-in with a second factor', '/authenticate', asked);
  const code = begun.status === 200 ? await readCode(0) : undefined;
  if (code === undefined) return undefined;
  const path = `/verify?${new URLSearchParams({ ...client, code: begun.answer?.body.code })}`;
  const verify = (what: string, typed: string) => at.authorization(what, path, { verification_code: typed });
  refused(await verify('wrong code at the sign-in', other(code)));
  const verified = await verify('code at the sign-in', code);
  if (verified.status !== 200) return undefined;
  refused(await verify('used code at the sign-in', code));
  const [redirect_uri = ''] = APPLICATION.redirect_uris;
  const exchange = { grant_type: 'authorization_code', code: verified.answer?.body.code, redirect_uri };
  const { status, answer } = await at.authorization('code exchanged', '/token', exchange);
  return status === 200 ? { access: answer?.body.access_token, refresh: answer?.body.refresh_token } : undefined;
}

async function payGuarded(at: Caller): Promise<string | undefined> {
  const reference = at.ledger.mark();
  const order = { path: '/payments', body: { ...at.party.base, reference } };
  const made = await at.operator('payment that needs a code', { ...order, table: 'payments', marks: [reference] });
  return made.status === 201 ? made.answer?.body.payment_id : undefined;
}

async function approvePayment(
  at: Caller,
  { contactId, readCode }: Guarded,
  token: string,
  paymentId: string,
): Promise<void> {
  const address = `/payments/${paymentId}`;
  const approve = (what: string, body?: object) =>
    at.client(what, token, { method: 'PATCH', path: `${address}?action=authorise`, ...(body && { body }) });
  refused(await approve('approval without a code'));
  const proof = await proofOf(at, readCode, token, { path: `${address}/challenges` });
  if (!proof) return;
  refused(await approve('approval with a wrong code', proof.wrong));
  const { status } = await approve('approval with a code', proof.right);
  if (status === undefined || status === 204) at.known.stepUps.push({ paymentId, contactId, answered: status === 204 });
  if (status === 204) refused(await approve('approval with a used code', proof.right));
}

/** One code stands for all of them. */
export async function approveTogether(
  at: Caller,
  { contactId, readCode }: Guarded,
  token: string,
  payment_ids: string[],
): Promise<void> {
  const approve = (what: string, body: object = {}) =>
    at.client(what, token, {
      ...{ method: 'PATCH', path: '/payments?action=authorise', body: { payment_ids, ...body }, silent: true },
    });
  refused(await approve('approvals without a code'));
  const proof = await proofOf(at, readCode, token, { path: '/payments/challenges', body: { payment_ids } });
  if (!proof) return;
  refused(await approve('approvals with a wrong code', proof.wrong));
  const entry = await approve('approvals with one code', proof.right);
  const done = at.known.decided(entry, contactId);
  if (entry.status !== undefined && entry.status !== 200) return;
  for (const paymentId of done ?? payment_ids)
    at.known.stepUps.push({ paymentId, contactId, answered: done !== undefined });
  if (done) refused(await approve('approvals with a used code', proof.right));
}

/** Opens a challenge. @returns what answers it, rightly and wrongly; undefined where nobody answers */
export async function proofOf(
  at: Caller,
  readCode: ReadCode,
  token: string,
  ask: { path: string; body?: object },
): Promise<{ right: object; wrong: object } | undefined> {
  const opened = await at.client('challenge', token, { ...ask, silent: true });
  // The code of this step has signed in.
  const code = opened.status === 201 ? await readCode(1) : undefined;
  if (code === undefined) return undefined;
  const { challenge_id } = (opened.answer as Answer).body as { challenge_id: string };
  const answered = (verification_code: string) => ({ challenge_id, verification_code });
  return { right: answered(code), wrong: answered(other(code)) };
}

function other(code: string): string {
  return String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0');
}
