import type { Seeded } from '../../src/sandbox/demonstration/seeded.ts';
import type { Received, Receiver } from '../world/receivers/receiver.ts';
import type { Entry, Ledger } from './ledger.ts';
import type { Party } from './party.ts';
import type { System } from './system.ts';

/** Payments that are acted on are among the newest. */
const RECENT = 60;

export interface MadePayment {
  id: string;
  party: Party;
}

/** A token of the institution. */
export interface OperatorToken {
  token: string;
  /** Undefined where nobody answered. */
  revoked: boolean | undefined;
}

/** A sign-in of a person by an application: its newest tokens. */
export interface Session {
  access: string;
  refresh: string;
  /** With the whole sign-in; undefined where nobody answered. */
  revoked: boolean | undefined;
}

/** What there is before the first call. */
interface Begun {
  ledger: Ledger;
  receiver: Receiver;
  parties: readonly Party[];
  /** A client whose approvals need a second factor. */
  guarded: Party;
  /** A client whose orders nobody but their maker approves, with a code. */
  alone: Party;
  /** A client that is reset again and again. */
  playground: Party;
}

/** What the callers know together: what they made, and what was answered to be so. */
export class Known {
  readonly system: System;
  readonly ledger: Ledger;
  readonly receiver: Receiver;
  readonly parties: readonly Party[];
  readonly guarded: Party;
  readonly alone: Party;
  readonly playground: Party;
  readonly payments: MadePayment[] = [];
  readonly statements: string[] = [];
  /** Notifications that were answered to be sent again. */
  readonly redeliveries: { id: string; askedAt: number }[] = [];
  /** What was decided in one go, as it was answered. */
  readonly decisions: { requestId: string; contactId: string; done: string[] }[] = [];
  readonly erasures: { contactId: string; name: string; erasureId: string }[] = [];
  readonly operatorTokens: OperatorToken[] = [];
  readonly sessions: Session[] = [];
  /** Applications with their secrets, the newest last. */
  readonly applications: { id: string; secrets: string[] }[] = [];
  /** Cookies of browsers that signed out. */
  readonly endedSessions: string[] = [];
  /** Cookies of the staff's browsers that signed out. */
  readonly endedStaffSessions: string[] = [];
  /** What the staff did by the console, and why. */
  readonly staffActs: { requestId: string; reason: string }[] = [];
  /** Passwords that were answered to be changed. */
  readonly passwords: { email: string; password: string; former: string }[] = [];
  /** Approvals with a code; `answered` is false where nobody answered. */
  readonly stepUps: { paymentId: string; contactId: string; answered: boolean }[] = [];
  /** Files that were confirmed with a code, as far as anybody knows. */
  readonly confirmedFiles: string[] = [];
  /** Where each consumer of the feed may stand; null: it may have been deleted. */
  readonly consumers = new Map<string, (string | null)[]>();
  /** How many pings were asked for, and how many of them were answered. */
  readonly pings = { asked: 0, answered: 0 };
  /** Moves of clients between cells that were answered, by the numbers of the cells. */
  readonly moves: { clientId: string; from: number; to: number }[] = [];
  /** Clients that somebody moves now. */
  readonly moving = new Set<string>();
  /** Why commands that move clients ended without having done it. */
  readonly moveFaults: string[] = [];
  /** What an act could not make sense of. */
  readonly failures: string[] = [];
  /** Of the application that signs people in. */
  clientSecret = '';

  constructor(system: System, { ledger, receiver, parties, guarded, alone, playground }: Begun) {
    this.system = system;
    this.ledger = ledger;
    this.receiver = receiver;
    this.parties = parties;
    this.guarded = guarded;
    this.alone = alone;
    this.playground = playground;
  }

  /** The clients whose payments stay, each with its own rule of approvals. */
  get lasting(): Party[] {
    return [...this.parties, this.guarded, this.alone];
  }

  /** What arrived of payments. */
  get paymentDeliveries(): Received[] {
    return this.receiver.received.filter(({ headers }) => headers['x-service-webhook'] === 'PaymentStatusChange');
  }

  /** Keeps what became of many decisions. @returns the payments on which they count; undefined where nobody answered */
  decided({ status, answer, requestIds }: Entry, contactId: string): string[] | undefined {
    if (status !== 200) return undefined;
    const list = answer?.body as { payment_id: string; done: boolean }[];
    const done = list.filter((each) => each.done).map(({ payment_id: id }) => id);
    this.decisions.push({ requestId: requestIds[0] as string, contactId, done });
    return done;
  }

  /** One of the newest payments; undefined before there is any. */
  recent(random: Seeded): MadePayment | undefined {
    return this.payments.at(-random.whole(1, Math.min(RECENT, Math.max(1, this.payments.length))));
  }
}
