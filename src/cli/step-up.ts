import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Challenge, type Decided, LombardError } from '../../sdk/src/index.ts';
import { replaceFile } from '../settings/data-directory.ts';
import { fieldsOf } from '../values/unknown.ts';
import { CommandFailure, USAGE } from './failure.ts';
import { profileFolder } from './profile.ts';
import { ask, canAsk } from './question.ts';
import { refusal } from './refusal.ts';
import type { Session } from './session.ts';

/** Where the person finds the code of a challenge. */
const SOURCES: Record<Challenge['second_factor'], string> = {
  sms: 'it was sent to you by text message',
  totp: 'your authenticator shows it',
};

/** The options of a command for which a client may require a code. */
export interface CodeOptions {
  challengeId?: string;
  verificationCode?: string;
}

/** Adds the options that answer a challenge to a command. */
export function withCode(command: Command): Command {
  return command
    .option('--verification-code <code>', 'where the client asks for one; a terminal is asked for it')
    .option('--challenge-id <id>', 'which challenge the code answers; the command printed it');
}

export interface Approval extends CodeOptions {
  reason?: string | undefined;
  /** What a later run needs to know about a challenge that this one opens. */
  remember?: string;
}

/**
 * Approves payments. If the client requires a verification code, it opens a challenge and asks for the code on a terminal. Without a
 * terminal it prints and remembers the challenge. A later run answers it with `--challenge-id` and `--verification-code`, or with the code
 * alone.
 * @param ids one payment, or several, which one code approves
 * @returns the result for each
 * @throws LombardError if a single payment, or the whole request, is refused; CommandFailure
 */
export async function approve(
  session: Session,
  ids: readonly string[],
  { reason, challengeId, verificationCode: code, remember }: Approval,
): Promise<Decided[]> {
  const subject = ids.join(',');
  const decide = (answer?: Answer) => authorise(session, ids, reason, answer);
  const answer = async (id: string, verificationCode: string) => {
    const decided = await decide({ challengeId: id, verificationCode });
    await forget(session, subject, id);
    return decided;
  };
  if (challengeId !== undefined) {
    if (code === undefined) throw new CommandFailure('--challenge-id: needs --verification-code', USAGE);
    return answer(challengeId, code);
  }
  const kept = code === undefined ? undefined : recall(session, subject);
  if (kept !== undefined && code !== undefined) {
    const decided = await unless('challenge_expired', () => answer(kept, code));
    if (decided) return decided;
    await forget(session, subject, kept);
  }
  const undemanded = await unless('step_up_required', () => decide());
  if (undemanded) return undemanded;
  const [only = ''] = ids;
  const opened = await session.lombard.payments.challenge(ids.length === 1 ? only : ids);
  // The code of a text message cannot have been known before the message was sent.
  if (code !== undefined && opened.second_factor === 'totp') return answer(opened.challenge_id, code);
  return asked(session, subject, opened, answer, remember);
}

interface Answer {
  challengeId: string;
  verificationCode: string;
}

async function authorise(
  { lombard: { payments } }: Session,
  ids: readonly string[],
  reason: string | undefined,
  answer: Answer | undefined,
): Promise<Decided[]> {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) {
    await payments.authorise(only, { reason, ...answer });
    return [{ payment_id: only, done: true, code: null, message: null, details: null }];
  }
  const { challengeId, verificationCode } = answer ?? {};
  return payments.decide('authorise', {
    payment_ids: [...ids],
    ...(reason === undefined ? {} : { reason }),
    ...(challengeId === undefined ? {} : { challenge_id: challengeId }),
    ...(verificationCode === undefined ? {} : { verification_code: verificationCode }),
  });
}

/**
 * Asks for the code on a terminal, and again if it is wrong. Without a terminal it explains how to finish the call.
 * @param subject what the challenge is for; it is kept, with `remember`, for the call that has the code
 * @param answer uses the code
 * @throws CommandFailure step_up_required if nobody can be asked
 */
export async function asked<T>(
  session: Session,
  subject: string,
  { challenge_id: id, second_factor: factor }: Challenge,
  answer: (challengeId: string, code: string) => Promise<T>,
  remember: string | undefined,
): Promise<T> {
  if (!canAsk()) {
    await keep(session, { [subject]: id, ...(remember === undefined ? {} : { [id]: remember }) });
    const how = `call again with --challenge-id ${id} --verification-code CODE`;
    throw refusal('step_up_required', `the client asks for a code: ${SOURCES[factor]}; ${how}`);
  }
  for (;;) {
    const code = await ask(`Verification code (${SOURCES[factor]}): `);
    const decided = await unless('step_up_failed', () => answer(id, code));
    if (decided) return decided;
    process.stderr.write('The code is wrong, or was used before.\n');
  }
}

/** The result of the work; undefined if the service refused with this code. @throws any other LombardError */
export async function unless<T>(code: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LombardError && error.code === code) return undefined;
    throw error;
  }
}

/** The most challenges that are remembered, newest last. They are valid for minutes, so older ones have expired. */
const MAX_KEPT = 40;

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

function keyOf({ profile }: Session, subject: string): string {
  return [profile.api_url, profile.contact_id, subject].join(' ');
}

/**
 * What an earlier run kept for this person. For payments it is their challenge, which the service checks. For a challenge it is what its
 * order was sent with.
 */
export function recall(session: Session, subject: string): string | undefined {
  const found = readAll()[keyOf(session, subject)];
  return typeof found === 'string' ? found : undefined;
}

/** Keeps facts for the run that has the code. */
async function keep(session: Session, facts: Record<string, string>): Promise<void> {
  const added = Object.entries(facts).map(([subject, fact]) => [keyOf(session, subject), fact] as const);
  const names = new Set(added.map(([name]) => name));
  const others = Object.entries(readAll()).filter(([name]) => !names.has(name));
  await writeAll(Object.fromEntries([...others, ...added].slice(-MAX_KEPT)));
}

/** Forgets what is no longer needed. */
async function forget(session: Session, ...subjects: string[]): Promise<void> {
  const names = new Set(subjects.map((subject) => keyOf(session, subject)));
  const kept = Object.entries(readAll());
  const others = kept.filter(([name]) => !names.has(name));
  if (others.length < kept.length) await writeAll(Object.fromEntries(others));
}
