import type { Seeded } from '../../src/sandbox/demonstration/seeded.ts';
import type { Received, Receiver } from '../world/receivers/receiver.ts';
import type { Ledger } from './ledger.ts';
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
  readonly playground: Party;
  readonly payments: MadePayment[] = [];
  readonly statements: string[] = [];
  /** Notifications that were answered to be sent again. */
  readonly redeliveries: { id: string; askedAt: number }[] = [];
  /** What was approved in one go, as it was answered. */
  readonly pageApprovals: { requestId: string; contactId: string; approved: string[] }[] = [];
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
  /** Where each consumer of the feed may stand; null: it may have been deleted. */
  readonly consumers = new Map<string, (string | null)[]>();
  /** How many pings were asked for, and how many of them were answered. */
  readonly pings = { asked: 0, answered: 0 };
  /** What an act could not make sense of. */
  readonly failures: string[] = [];
  /** Of the application that signs people in. */
  clientSecret = '';

  constructor(system: System, { ledger, receiver, parties, guarded, playground }: Begun) {
    this.system = system;
    this.ledger = ledger;
    this.receiver = receiver;
    this.parties = parties;
    this.guarded = guarded;
    this.playground = playground;
  }

  /** The clients whose payments stay, each with its own rule of approvals. */
  get lasting(): Party[] {
    return [...this.parties, this.guarded];
  }

  /** What arrived of payments, without pings. */
  get paymentDeliveries(): Received[] {
    return this.receiver.received.filter(({ headers }) => headers['x-service-webhook'] !== 'Ping');
  }

  /** One of the newest payments; undefined before there is any. */
  recent(random: Seeded): MadePayment | undefined {
    return this.payments.at(-random.whole(1, Math.min(RECENT, Math.max(1, this.payments.length))));
  }
}
