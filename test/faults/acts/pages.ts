import { randomUUID } from 'node:crypto';
import { randomToken, sha256 } from '../../../src/values/crypto.ts';
import { type Answer, call } from '../../world/service.ts';
import type { Caller } from '../caller.ts';
import { OPERATOR_TOKEN } from '../system.ts';

const MAX_APPROVED = 6;

/**
 * A browser that is signed in as a contact, written straight into the database at the service's own time.
 * @returns the value of its cookie; undefined where nobody answers
 */
async function openSession(at: Caller, contactId: string): Promise<string | undefined> {
  const secret = randomToken();
  try {
    const { body } = await call(`${at.front().operator}/clock`, 'GET', { token: OPERATOR_TOKEN });
    await at.known.system.query(
      `with made as (insert into grants (application_id, contact_id, trusted, methods, authenticated_at, created_at)
         values ('lombard-app', $1, false, '{pwd}', $5, $5) returning id),
       token as (insert into access_tokens (token_sha256, grant_id, application_id, contact_id, issued_at, expires_at)
         select $2, id, 'lombard-app', $1, $5, $5::timestamptz + interval '12 hours' from made)
       insert into page_sessions (id, secret_sha256, grant_id, contact_id, token_sha256, browser, created_at, last_active_at, expires_at)
       select $4, $3, id, $1, $2, 'faults', $5, $5, $5::timestamptz + interval '12 hours' from made`,
      [contactId, sha256(randomToken()), sha256(secret), randomUUID(), body.now],
    );
    return secret;
  } catch {
    return undefined;
  }
}

/** An approver approves several payments in one go, by the page. */
export async function approveMany(at: Caller): Promise<void> {
  const contact = at.random.pick(at.party.approvers);
  const own = at.known.payments.filter(({ party }) => party === at.party).slice(-MAX_APPROVED);
  const session = own.length > 0 ? await openSession(at, contact.id) : undefined;
  if (session === undefined) return;
  const body = { payment_ids: own.map(({ id }) => id) };
  const entry = await at.page('approvals by the page', session, { path: '/app/data/approvals', body, silent: true });
  if (entry.status !== 200) return;
  const approved = (entry.answer as Answer).body.approved as string[];
  at.known.decisions.push({ requestId: entry.requestIds[0] as string, contactId: contact.id, done: approved });
}

/** A person chooses a language, decides a payment, and signs out. */
export async function visit(at: Caller): Promise<void> {
  const contact = at.random.pick(at.party.approvers);
  const session = await openSession(at, contact.id);
  if (session === undefined) return;
  const language = at.random.pick(['en', 'de', 'fr', 'es']);
  await at.page('profile', session, { method: 'PATCH', path: '/app/profile', body: { language }, silent: true });
  const payment = at.known.payments.findLast(({ party }) => party === at.party);
  if (payment) {
    const path = `/app/api/payments/${payment.id}?action=authorise`;
    await at.page('decision by the page', session, { method: 'PATCH', path });
  }
  const end = await at.page('sign-out', session, { method: 'DELETE', path: '/app/session', silent: true });
  if (end.status === 204) at.known.endedSessions.push(session);
}
