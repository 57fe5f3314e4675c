import type { Answer } from '../../world/service.ts';
import { until } from '../../world/until.ts';
import { Visitor } from '../../world/visitor.ts';
import type { Caller } from '../caller.ts';
import { authenticator } from '../codes.ts';

const MAIL_SECONDS = 10;

interface Person {
  email: string;
  password: string;
}

async function hire(at: Caller, what: string): Promise<Person | undefined> {
  const name = at.ledger.mark();
  const credentials = { email: `${name}@example.com`, password: `a password of ${name}` };
  const clients = [{ client_id: at.party.clientId, permissions: [] }];
  const body = { name, ...credentials, clients };
  const { status } = await at.operator(what, { path: '/contacts', body, table: 'contacts', marks: [name] });
  return status === 201 ? credentials : undefined;
}

/** Signs a person in by a browser of its own, through the pages. @returns the value of its cookie; undefined where nobody answers */
async function signIn(at: Caller, person: Person): Promise<string | undefined> {
  const browser = new Visitor();
  try {
    const sent = await browser.get(`${at.front().api}/app`);
    const page = await browser.get(sent.location ?? '');
    const { location } = await browser.submit(page, { ...person });
    // The pages' public address leads to whichever process answers.
    await browser.get(`${at.front().api}${location?.pathname}${location?.search}`);
  } catch {
    return undefined;
  }
  return browser.cookies.get('lombard-app');
}

/**
 * A person has two browsers. From the first one it signs the other one out, changes its password, sets up an authenticator, and signs out
 * everywhere.
 */
export async function browse(at: Caller): Promise<void> {
  const person = await hire(at, 'person with browsers');
  const first = person && (await signIn(at, person));
  const second = first && (await signIn(at, person));
  if (!person || !first || !second) return;
  const { endedSessions, passwords } = at.known;
  await at.page('activity', first, { path: '/app/session/activity', silent: true });
  const sessions = await at.page('list of browsers', first, { method: 'GET', path: '/app/sessions', silent: true });
  const browsers: { id: string; current: boolean }[] = sessions.status === 200 ? sessions.answer?.body : [];
  for (const { id } of browsers.filter(({ current }) => !current)) {
    const address = { method: 'DELETE', path: `/app/sessions/${id}`, silent: true };
    const ended = await at.page('another browser signed out', first, address);
    if (ended.status === 204) endedSessions.push(second);
  }
  const password = `another password of ${person.email}`;
  const change = { current_password: person.password, new_password: password };
  const changed = await at.page('password changed', first, { path: '/app/profile/password', body: change });
  if (changed.status === 204) passwords.push({ email: person.email, password, former: person.password });
  await setUpAuthenticator(at, first);
  const everywhere = { method: 'DELETE', path: '/app/sessions', silent: true };
  const left = await at.page('sign-out everywhere', first, everywhere);
  if (left.status === 204) endedSessions.push(first, second);
}

async function setUpAuthenticator(at: Caller, session: string): Promise<void> {
  const path = '/app/profile/authenticator';
  const begun = await at.page('authenticator begun', session, { path, body: {}, silent: true });
  if (begun.status !== 200) return;
  const { setup, secret } = (begun.answer as Answer).body as { setup: string; secret: string };
  const verification_code = await authenticator(at, secret)(0);
  if (verification_code === undefined) return;
  const confirmation = { path: `${path}/confirmation`, body: { setup, verification_code } };
  await at.page('authenticator confirmed', session, confirmation);
  await at.page('recovery codes', session, { path: '/app/profile/recovery-codes', body: {} });
}

/** A person forgets its password and chooses another one by the link in its mail. */
export async function forget(at: Caller): Promise<void> {
  const person = await hire(at, 'person who forgets');
  if (!person) return;
  const { email, password: former } = person;
  const asked = await at.authorization('forgotten password', '/forgotten-password', { email }, { page: true });
  const token = asked.status === 200 ? await tokenOf(at, email) : undefined;
  if (token === undefined) return;
  const password = `a remembered password of ${email}`;
  const chosen = { token, password };
  const { status } = await at.authorization('new password', '/new-password', chosen, { page: true, silent: false });
  if (status === 200) at.known.passwords.push({ email, password, former });
}

/** What the link in a person's newest mail carries; undefined where none comes soon. */
async function tokenOf(at: Caller, email: string): Promise<string | undefined> {
  const newest = "select mail->>'text' as text from mailbox where mail->>'to' = $1 order by id desc limit 1";
  const look = async () => {
    const { rows } = await at.known.system.query(newest, [email]).catch(() => ({ rows: [] }));
    return /new-password\?\S*?token=([^&\s]+)/.exec(rows[0]?.text ?? '')?.[1];
  };
  return until(look, { seconds: MAIL_SECONDS }).catch(() => undefined);
}
