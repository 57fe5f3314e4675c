import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Application, Lombard, type TokenSet } from '../../sdk/src/index.ts';
import { DEMO_APPLICATION } from '../sandbox/demonstration/institution.ts';
import { type Config, readConfig } from '../settings/config.ts';
import { replaceFile } from '../settings/data-directory.ts';
import { CommandFailure, NOT_SIGNED_IN, reach } from './failure.ts';
import { DEFAULT_PROFILE, type Profile, profileIn, readProfile, writeProfile } from './profile.ts';
import { type Running, readRunning } from './running.ts';
import { COMMAND_APPLICATION } from './sign-in/authorization-server.ts';
import { signInDemonstration } from './sign-in/demonstration.ts';

/** The tokens of the demonstration's contact, in the data directory. A sign-in for each command would soon reach the rate limit. */
const TOKENS_FILE = 'command-tokens.json';
const UNAUTHORIZED = 401;

export interface SessionOptions {
  /** Undefined if `--profile` is not given. */
  profile: string | undefined;
  /** The client to act for, instead of the profile's. */
  client: string | undefined;
}

/** The session of a signed-in person, through which a command calls the client API. */
export class Session {
  readonly lombard: Lombard;
  readonly profile: Profile;
  readonly clientId: string;
  readonly application: Application;
  #accessToken: string;

  constructor(profile: Profile, clientId: string, application: Application, keep: (profile: Profile) => Promise<void>) {
    this.profile = profile;
    this.clientId = clientId;
    this.application = application;
    this.#accessToken = profile.access_token;
    this.lombard = new Lombard({
      baseUrl: profile.api_url,
      authUrl: profile.auth_url,
      clientId,
      application,
      accessToken: profile.access_token,
      refreshToken: profile.refresh_token,
      onTokens: async ({ accessToken, refreshToken }: TokenSet) => {
        this.#accessToken = accessToken;
        // If the file cannot be written, the next command signs in again. This one continues.
        await keep({ ...profile, access_token: accessToken, refresh_token: refreshToken }).catch(() => {});
      },
    });
  }

  /** For calls that the SDK has no method for, such as streams. */
  get accessToken(): string {
    return this.#accessToken;
  }

  /** Call it after a 401 of such a call. The SDK refreshes the token if it is refused. @throws LombardError */
  async renew(signal?: AbortSignal): Promise<void> {
    await this.lombard.approvals.settings({ signal });
  }
}

/**
 * The session of a command. In a directory with a running sandbox it is the demonstration's contact, unless a profile is named or somebody
 * has signed in at that very sandbox.
 * @throws CommandFailure if nobody is signed in, or nothing can be reached
 */
export async function openSession({ profile: named, client }: SessionOptions): Promise<Session> {
  const name = named ?? DEFAULT_PROFILE;
  const profile = readProfile(name);
  const config = readConfig();
  const running = named === undefined ? readRunning(config) : undefined;
  if (profile && (!running || profile.api_url === running.api)) return profileSession(name, profile, client);
  if (!running) {
    const where = named === undefined ? ', and no sandbox runs on the data directory' : '';
    throw new CommandFailure(
      `nobody is signed in as profile ${name}${where} (${config.dataDir}); lombard login signs in`,
      NOT_SIGNED_IN,
    );
  }
  return sandboxSession(config, running, client);
}

function profileSession(name: string, profile: Profile, client: string | undefined): Session {
  const keep = (changed: Profile) => writeProfile(name, changed);
  return new Session(profile, client ?? profile.client_id, { id: COMMAND_APPLICATION }, keep);
}

async function sandboxSession(config: Config, running: Running, client: string | undefined): Promise<Session> {
  const path = join(config.dataDir, TOKENS_FILE);
  const kept = readKept(path, running);
  const keep = async (changed: Profile) => replaceFile(path, JSON.stringify(changed));
  let profile = kept;
  if (!profile || !(await isAccepted(profile))) {
    profile = await signInDemonstration(running);
    await keep(profile).catch(() => {});
  }
  const application = { id: DEMO_APPLICATION.client_id, secret: DEMO_APPLICATION.client_secret };
  return new Session(profile, client ?? profile.client_id, application, keep);
}

function readKept(path: string, running: Running): Profile | undefined {
  try {
    return { ...profileIn(readFileSync(path, 'utf8')), api_url: running.api, auth_url: running.auth };
  } catch {
    return undefined;
  }
}

/** Whether the access token still works. The sandbox's database may have been replaced. */
async function isAccepted({ api_url, client_id, access_token }: Profile): Promise<boolean> {
  const url = `${api_url}/approvals-workflow/settings?client_id=${encodeURIComponent(client_id)}`;
  const answer = await reach(url, { headers: { authorization: `Bearer ${access_token}` } });
  await answer.arrayBuffer();
  return answer.status !== UNAUTHORIZED;
}
