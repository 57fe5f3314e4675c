import type { Caller } from '../caller.ts';
import { configure } from './approvals.ts';
import { askStatement, redeliver, replay, sendStatement, subscribe } from './deliveries.ts';
import { application, erase, operatorToken, signOn } from './identity.ts';
import { approveMany, visit } from './pages.ts';
import * as payments from './payments.ts';
import * as records from './records.ts';

export type Act = (at: Caller) => Promise<void>;

const { pay, move, decide, book } = payments;

/** What callers do: each once, and what an institution does most more often. */
export const ACTS: readonly Act[] = [
  ...Object.values(payments),
  ...Object.values(records),
  ...[configure, approveMany, visit, askStatement, sendStatement, redeliver, replay, subscribe],
  ...[operatorToken, application, signOn, erase],
  ...[pay, pay, pay, pay, move, move, move, decide, decide, decide, approveMany, book],
];
