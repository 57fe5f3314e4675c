import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../settings/data-directory.ts';
import { fieldsOf } from '../values/unknown.ts';
import { profileFolder } from './profile.ts';
import type { Session } from './session.ts';

/** Challenges that are remembered, the newest last. They are good for minutes, so the older ones are over. */
const MAX_KEPT = 20;

const folder = () => join(profileFolder(), 'challenges');

function readAll(): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(readFileSync(join(folder(), 'open.json'), 'utf8')));
  } catch {
    return {};
  }
}

async function writeAll(kept: object): Promise<void> {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  replaceFile(join(folder(), 'open.json'), JSON.stringify(kept));
}

function keyOf({ profile }: Session, paymentId: string): string {
  return [profile.api_url, profile.contact_id, paymentId].join(' ');
}

/** The challenge that an earlier run opened for this person and payment; the service says whether it is still good. */
export function openChallenge(session: Session, paymentId: string): string | undefined {
  const challenge = readAll()[keyOf(session, paymentId)];
  return typeof challenge === 'string' ? challenge : undefined;
}

/** Remembers a challenge for the run that has the code. */
export async function keepChallenge(session: Session, paymentId: string, challengeId: string): Promise<void> {
  const { [keyOf(session, paymentId)]: _former, ...others } = readAll();
  const kept = Object.entries({ ...others, [keyOf(session, paymentId)]: challengeId }).slice(-MAX_KEPT);
  await writeAll(Object.fromEntries(kept));
}

/** Forgets one that is over. */
export async function forgetChallenge(session: Session, paymentId: string): Promise<void> {
  const { [keyOf(session, paymentId)]: former, ...others } = readAll();
  if (former !== undefined) await writeAll(others);
}
