import { type Answer, APPLICATION } from '../../world/service.ts';
import type { Caller } from '../caller.ts';
import { authenticator, type ReadCode, texts } from '../codes.ts';
import { refused } from '../ledger.ts';

/** The least of nine digits of a phone. */
const FIRST_PHONE = 100_000_000;

interface Approver {
  contactId: string;
  credentials: { email: string; password: string };
  readCode: ReadCode;
}

/**
 * A new approver signs in with a second factor and approves a payment with another code. Wrong codes, and codes that were used, are
 * refused. Then the person leaves, so that nobody has too many approvers.
 */
export async function approveWithCode(at: Caller): Promise<void> {
  const own = at.of(at.known.guarded);
  const approver = await hireApprover(own);
  const token = approver && (await signInWithCode(own, approver));
  if (token === undefined) return;
  await approvePayment(own, approver as Approver, token.access);
  const path = `/contacts/${approver?.contactId}`;
  const left = await own.operator('approver disabled', { method: 'PATCH', path, body: { status: 'disabled' } });
  if (left.status === 200) at.known.sessions.push({ ...token, revoked: true });
}

async function hireApprover(at: Caller): Promise<Approver | undefined> {
  const name = at.ledger.mark();
  const credentials = { email: `${name}@example.com`, password: `a password of ${name}` };
  const phone = `+44${at.random.whole(FIRST_PHONE, 10 * FIRST_PHONE - 1)}`;
  const second_factor = at.random.pick(['totp', 'sms']);
  const clients = [{ client_id: at.party.clientId, permissions: ['can_authorise_payments'] }];
  const { status, answer } = await at.operator('approver with a second factor', {
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
  { credentials, readCode }: Approver,
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

async function approvePayment(at: Caller, { contactId, readCode }: Approver, token: string): Promise<void> {
  const reference = at.ledger.mark();
  const order = { path: '/payments', body: { ...at.party.base, reference } };
  const made = await at.operator('payment that needs a code', { ...order, table: 'payments', marks: [reference] });
  if (made.status !== 201) return;
  const paymentId: string = made.answer?.body.payment_id;
  const address = `/payments/${paymentId}`;
  const approve = (what: string, body?: object) =>
    at.client(what, token, { method: 'PATCH', path: `${address}?action=authorise`, ...(body && { body }) });
  refused(await approve('approval without a code'));
  const opened = await at.client('challenge', token, { path: `${address}/challenges`, silent: true });
  // The code of this step has signed in.
  const code = opened.status === 201 ? await readCode(1) : undefined;
  if (code === undefined) return;
  const { challenge_id } = (opened.answer as Answer).body as { challenge_id: string };
  refused(await approve('approval with a wrong code', { challenge_id, verification_code: other(code) }));
  const body = { challenge_id, verification_code: code };
  const { status } = await approve('approval with a code', body);
  if (status === undefined || status === 204) at.known.stepUps.push({ paymentId, contactId, answered: status === 204 });
  if (status === 204) refused(await approve('approval with a used code', body));
}

function other(code: string): string {
  return String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0');
}
