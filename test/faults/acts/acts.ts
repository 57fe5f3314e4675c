import type { Caller } from '../caller.ts';
import { configure } from './approvals.ts';
import { browse, forget } from './browsers.ts';
import { moveClient } from './cells.ts';
import { consume } from './consumers.ts';
import { askStatement, ping, redeliver, replay, sendStatement, subscribe } from './deliveries.ts';
import * as exchange from './exchange.ts';
import * as files from './files.ts';
import { orderWithCode } from './guarded-orders.ts';
import { application, erase, operatorToken, signOn } from './identity.ts';
import * as nightly from './nightly.ts';
import * as orders from './orders.ts';
import { approveMany, visit } from './pages.ts';
import * as payments from './payments.ts';
import * as records from './records.ts';
import * as sandbox from './sandbox.ts';
import { approveWithCode } from './second-factors.ts';
import { attend } from './staff.ts';

export type Act = (at: Caller) => Promise<void>;

const { pay, move, decide, book } = payments;

/** What callers do: each once, and what an institution does most more often. */
export const ACTS: readonly Act[] = [
  ...Object.values(payments),
  ...Object.values(records),
  ...Object.values(nightly),
  ...Object.values(orders),
  ...Object.values(exchange),
  ...Object.values(files),
  ...Object.values(sandbox),
  ...[configure, approveMany, visit, askStatement, sendStatement, ping, redeliver, replay, subscribe, consume],
  ...[operatorToken, application, signOn, erase, approveWithCode, orderWithCode, browse, forget, attend, moveClient],
  ...[pay, pay, pay, pay, move, move, move, decide, decide, decide, approveMany, book],
  ...[orders.order, orders.order, orders.order, orders.settle, orders.settle, orders.credit],
  ...[exchange.exchange, exchange.payFromTrade, files.sendFile, files.handleFile],
];
