import { issueTokens } from '../../world/service.ts';
import type { Caller } from '../caller.ts';
import type { OperatorToken, Session } from '../known.ts';

/** A token of the institution is made; every second one is revoked, and the first one too. */
export async function operatorToken(at: Caller): Promise<void> {
  const name = at.ledger.mark();
  const body = { name, role: 'support' };
  const { status, answer } = await at.operator('operator token', {
    ...{ path: '/operator-tokens', body, table: 'operator_tokens', marks: [name] },
  });
  if (status !== 201) return;
  const made: OperatorToken = { token: answer?.body.token, revoked: false };
  at.known.operatorTokens.push(made);
  if (at.known.operatorTokens.length % 2 === 0) return;
  made.revoked = undefined;
  const path = `/operator-tokens/${answer?.body.id}`;
  const revocation = await at.operator('operator token revoked', { method: 'DELETE', path });
  if (revocation.status === 204) made.revoked = true;
}

/** An application is registered, and its secret rotated until nobody answers. */
export async function application(at: Caller): Promise<void> {
  const name = at.ledger.mark();
  const body = { name, redirect_uris: ['https://desk.example/callback'] };
  const { status, answer } = await at.operator('application', {
    ...{ path: '/applications', body, table: 'applications', marks: [name] },
  });
  if (status !== 201) return;
  const id = answer?.body.client_id as string;
  const secrets = [answer?.body.client_secret as string];
  const shorter = { refresh_token_days: at.random.whole(1, 28) };
  await at.operator('application changed', {
    method: 'PATCH',
    path: `/applications/${id}`,
    body: shorter,
    silent: true,
  });
  while (at.random.next() < 0.5) {
    const rotated = await at.operator('secret rotated', { path: `/applications/${id}/secret`, body: {} });
    // Which of the two secrets is in force now, nobody knows.
    if (rotated.status !== 201) return;
    secrets.push(rotated.answer?.body.client_secret);
  }
  at.known.applications.push({ id, secrets });
}

/**
 * A new person signs in; its tokens are refreshed and, half of the time, revoked. Each session has a person of its own, because only the
 * last ten refresh tokens of a person and an application are in force.
 */
export async function signOn(at: Caller): Promise<void> {
  const { clientSecret, sessions } = at.known;
  const name = at.ledger.mark();
  const [email, password] = [`${name}@example.com`, `a password of ${name}`];
  const clients = [{ client_id: at.party.clientId, permissions: [] }];
  const person = { name, email, password, clients };
  const hired = await at.operator('person who signs in', {
    ...{ path: '/contacts', body: person, table: 'contacts', marks: [name] },
  });
  if (hired.status !== 201) return;
  const issued = await issueTokens(at.front().auth, clientSecret, email, password).catch(() => undefined);
  if (!issued) return;
  const session: Session = { access: issued.access_token, refresh: issued.refresh_token, revoked: false };
  while (at.random.next() < 0.5) {
    const form = { grant_type: 'refresh_token', refresh_token: session.refresh };
    const { status, answer } = await at.authorization('token refreshed', '/token', form);
    if (status === undefined) break;
    if (status !== 200) throw new Error(`a refresh token is refused with ${status}: ${answer?.text}`);
    session.refresh = answer?.body.refresh_token;
    session.access = answer?.body.access_token;
  }
  sessions.push(session);
  if (at.random.next() < 0.5) return;
  session.revoked = undefined;
  const revocation = await at.authorization('token revoked', '/revoke', { token: session.refresh });
  if (revocation.status === 200) session.revoked = true;
}

/** A person comes, orders a payment, leaves, and is erased. */
export async function erase(at: Caller): Promise<void> {
  const { party, ledger } = at;
  const name = `Gone-${ledger.mark()}`;
  const clients = [{ client_id: party.clientId }];
  const body = { name, email: `${name}@example.com`, phone: '+44 20 7946 0001', clients };
  const hired = await at.operator('person', { path: '/contacts', body });
  if (hired.status !== 201) return;
  const id = hired.answer?.body.contact_id as string;
  const reference = ledger.mark();
  const order = { ...party.base, contact_id: id, reference };
  await at.operator('payment of a person', { path: '/payments', body: order, table: 'payments', marks: [reference] });
  const path = `/contacts/${id}`;
  const left = await at.operator('person disabled', { method: 'PATCH', path, body: { status: 'disabled' } });
  if (left.status !== 200) return;
  const erasure = await at.operator('erasure', { path: `${path}/erase` });
  if (erasure.status === 202)
    at.known.erasures.push({ contactId: id, name, erasureId: erasure.answer?.body.erasure_id });
}
