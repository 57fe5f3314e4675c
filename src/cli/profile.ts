import { mkdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { userConfigHome } from '../settings/config.ts';
import { replaceFile } from '../settings/data-directory.ts';
import { codeOf, messageOf, textsOf } from '../values/unknown.ts';
import { CommandFailure, USAGE } from './failure.ts';

export const DEFAULT_PROFILE = 'default';
const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Who is signed in, where, and with which tokens. `client_id`: the client to act for unless `--client` names another one. */
const FIELDS = ['api_url', 'auth_url', 'contact_id', 'client_id', 'access_token', 'refresh_token'] as const;
export type Profile = Record<(typeof FIELDS)[number], string>;

/** `$XDG_CONFIG_HOME/lombard`. */
export function profileFolder(): string {
  return join(userConfigHome() ?? join(homedir(), '.config'), 'lombard');
}

function pathOf(name: string): string {
  if (!PROFILE_NAME.test(name))
    throw new CommandFailure(`--profile: "${name}" must be letters, digits, dots, hyphens and underscores`, USAGE);
  return join(profileFolder(), `${name}.json`);
}

/**
 * @returns undefined if nobody is signed in under this name
 * @throws CommandFailure if the file is damaged
 */
export function readProfile(name: string): Profile | undefined {
  const path = pathOf(name);
  try {
    return profileIn(readFileSync(path, 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new CommandFailure(`cannot read ${path}: ${messageOf(error)}`);
  }
}

/** @throws Error if the text is not a profile */
export function profileIn(text: string): Profile {
  const profile = textsOf(JSON.parse(text), FIELDS);
  if (!profile) throw new Error(`it lacks one of ${FIELDS.join(', ')}`);
  return profile;
}

/** Writes a profile with mode 0600, in `$XDG_CONFIG_HOME/lombard/`. */
export async function writeProfile(name: string, profile: Profile): Promise<void> {
  const path = pathOf(name);
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
  replaceFile(path, `${JSON.stringify(profile, null, 2)}\n`);
}

/** Removes the profile with this name, which signs its person out locally. */
export async function removeProfile(name: string): Promise<void> {
  await rm(pathOf(name), { force: true });
}
