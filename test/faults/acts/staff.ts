import { Visitor } from '../../world/visitor.ts';
import type { Caller } from '../caller.ts';
import { refused } from '../ledger.ts';

/** Signs in at the provider of the institution. @returns the value of the cookie; undefined where nobody answers */
async function signIn(at: Caller): Promise<string | undefined> {
  const browser = new Visitor();
  try {
    const sent = await browser.get(`${at.front().operator}/console`);
    const back = await browser.get(sent.location ?? '');
    // The console's public address leads to whichever process answers.
    await browser.get(`${at.front().operator}${back.location?.pathname}${back.location?.search}`);
  } catch {
    return undefined;
  }
  return browser.cookies.get('lombard-console');
}

/** A person of the institution signs in to the console, changes something with a reason each time, and signs out. Then it may change nothing. */
export async function attend(at: Caller): Promise<void> {
  const session = await signIn(at);
  if (session === undefined) return;
  const { known, ledger, party, random } = at;
  const act = async (what: string, ask: Parameters<Caller['console']>[2]) => {
    const reason = `because of ${ledger.mark()}`;
    const entry = await at.console(what, session, { ...ask, path: `/console/api${ask.path}` }, reason);
    if (entry.status !== undefined && entry.status < 300)
      known.staffActs.push({ requestId: entry.requestIds[0] as string, reason });
    return entry;
  };
  const name = ledger.mark();
  const token = { path: '/operator-tokens', body: { name, role: 'support' } };
  await act('operator token by the console', { ...token, table: 'operator_tokens', marks: [name] });
  const rename = () => ({
    ...{ method: 'PATCH', path: `/clients/${party.clientId}`, body: { client_name: ledger.mark() } },
  });
  await act('client renamed by the console', rename());
  await act('contact unlocked by the console', { path: `/contacts/${random.pick(party.approvers).id}/unlock` });
  const left = await at.console('sign-out of the staff', session, { method: 'DELETE', path: '/console/session' });
  if (left.status !== 204) return;
  known.endedStaffSessions.push(session);
  refused(await act('change after the sign-out', rename()));
}
