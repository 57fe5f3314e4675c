import assert from 'node:assert/strict';
import { APPLICATION, call } from '../../world/service.ts';
import type { Round } from './round.ts';

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  'content-type': 'application/x-www-form-urlencoded',
});

/** What was answered to be in force is, at every process, and what was answered to be revoked is refused. */
export async function tokensHold({ system, known }: Round): Promise<void> {
  const faults: string[] = [];
  const expect = (what: string, status: number, wanted: number) => {
    if (status !== wanted) faults.push(`${what} is answered ${status} instead of ${wanted}`);
  };
  for (const { operator, api, auth } of system.fronts) {
    for (const { token, revoked } of known.operatorTokens) {
      if (revoked === undefined) continue;
      const { status } = await call(`${operator}/clients?page_size=1`, 'GET', { token });
      expect(`a token of the institution, ${revoked ? 'revoked' : 'in force'},`, status, revoked ? 401 : 200);
    }
    for (const { access } of known.sessions.filter((session) => session.revoked)) {
      const { status } = await call(`${api}/payments?client_id=CLI000001`, 'GET', { token: access });
      expect('an access token that was revoked', status, 401);
    }
    for (const session of known.endedSessions) {
      const { status } = await call(`${api}/app/session`, 'GET', { headers: { cookie: `lombard-app=${session}` } });
      expect('the cookie of a browser that signed out', status, 401);
    }
    for (const session of known.endedStaffSessions) {
      const headers = { cookie: `lombard-console=${session}`, 'x-lombard-page': '1' };
      const { status } = await call(`${operator}/console/session`, 'GET', { headers });
      expect('the cookie of a person of the staff who signed out', status, 401);
    }
    for (const { id, secrets } of known.applications) {
      for (const [n, secret] of secrets.entries()) {
        const { status } = await call(`${auth}/introspect`, 'POST', { raw: 'token=x', headers: basic(id, secret) });
        const newest = n === secrets.length - 1;
        expect(`secret ${n + 1} of ${secrets.length} of ${id}`, status, newest ? 200 : 401);
      }
    }
    for (const session of known.sessions) {
      if (session.revoked === undefined) continue;
      const { status, body } = await call(`${auth}/token`, 'POST', {
        raw: `grant_type=refresh_token&refresh_token=${session.refresh}`,
        headers: basic(APPLICATION.client_id, known.clientSecret),
      });
      expect(`a refresh token, ${session.revoked ? 'revoked' : 'in force'},`, status, session.revoked ? 400 : 200);
      if (status === 200) session.refresh = body.refresh_token;
    }
  }
  assert.deepEqual(faults, []);
}
