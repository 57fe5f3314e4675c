import { Secret, TOTP } from 'otpauth';
import { call } from '../world/service.ts';
import type { Caller } from './caller.ts';
import { OPERATOR_TOKEN } from './system.ts';

const STEP_MS = 30_000;

/** Reads the newest code that a person has. @param steps of an authenticator, from now; @returns undefined where nobody answers */
export type ReadCode = (steps: number) => Promise<string | undefined>;

/** The codes of an authenticator, by the service's own time. */
export function authenticator(at: Caller, secret: string): ReadCode {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return async (steps) => {
    const clock: { now: string } | undefined = await read(at, '/clock');
    return clock && totp.generate({ timestamp: Date.parse(clock.now) + steps * STEP_MS });
  };
}

/** The codes that are sent to a phone. */
export function texts(at: Caller, phone: string): ReadCode {
  return async () => {
    const sent: { to: string; text: string }[] | undefined = await read(at, '/text-messages');
    return /\b(\d{6})\b/.exec(sent?.find(({ to }) => to === phone)?.text ?? '')?.[1];
  };
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the address answers
async function read(at: Caller, path: string): Promise<any> {
  const options = { token: OPERATOR_TOKEN };
  const answer = await call(`${at.front().operator}${path}`, 'GET', options).catch(() => undefined);
  return answer?.status === 200 ? answer.body : undefined;
}
