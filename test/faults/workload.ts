import { setTimeout as pause } from 'node:timers/promises';
import { Vault } from '../../src/crypto.ts';
import { createPool, transaction } from '../../src/database.ts';
import { Seeded } from '../../src/sandbox/demonstration/seeded.ts';
import { createSubscription } from '../../src/webhooks/subscription.ts';
import { accessToken } from '../world/access-token.ts';
import { createWorld } from '../world/client.ts';
import { log } from '../world/database.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { call, type TestService } from '../world/service.ts';
import { type Entry, Ledger, type Request } from './ledger.ts';
import { OPERATOR_TOKEN, type System } from './system.ts';

const CALLERS = 8;
const MAX_PAUSE_MS = 60;
const WORKFLOWS = ['simple', '4-eyes', '6-eyes'];
const ACTIONS = ['validate', 'send', 'complete', 'cancel', 'authorise', 'reject'];
const TOKEN_SECONDS = 90 * 86_400;
/** Share of deliveries that a receiver refuses, and how long it takes at most. */
const REFUSED = 0.05;
const MAX_ANSWER_MS = 20;
/** Payments that are acted on are among the newest. */
const RECENT = 60;

export interface Party {
  clientId: string;
  contactId: string;
  workflow: string;
  base: Record<string, unknown>;
  accountId: number;
  approvers: { id: string; token: string }[];
  token: string;
  beneficiaries: string[];
  trades: string[];
}

interface Ask extends Pick<Request, 'lines' | 'silent' | 'table' | 'marks'> {
  method?: string;
  path: string;
  body?: object;
}

/** Callers that change everything that can be changed, while whatever happens to the system happens. */
export class Workload {
  readonly ledger: Ledger;
  readonly parties: Party[] = [];
  readonly receiver: Receiver;
  readonly #system: System;
  readonly #seed: number;
  readonly #payments: { id: string; party: Party }[] = [];
  #running = false;
  #callers: Promise<void>[] = [];

  private constructor(system: System, seed: number, receiver: Receiver) {
    this.#system = system;
    this.#seed = seed;
    this.receiver = receiver;
    this.ledger = new Ledger(seed);
  }

  static async start(system: System, seed: number): Promise<Workload> {
    const random = new Seeded(seed);
    const receiver = await Receiver.start((_got, response) => {
      setTimeout(
        () => {
          response.statusCode = random.next() < REFUSED ? 500 : 200;
          response.end();
        },
        random.whole(0, MAX_ANSWER_MS),
      );
    });
    const workload = new Workload(system, seed, receiver);
    for (const workflow of WORKFLOWS) workload.parties.push(await makeParty(system, receiver, workflow));
    workload.resume();
    return workload;
  }

  resume(): void {
    this.#running = true;
    this.#callers = Array.from({ length: CALLERS }, async (_, n) => {
      const random = new Seeded(this.#seed * 1_000 + n + this.ledger.entries.length);
      while (this.#running) {
        await this.#step(random);
        await pause(random.whole(0, MAX_PAUSE_MS));
      }
    });
  }

  /** Ends when everything that was asked for insistently is answered. */
  async pause(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#callers);
  }

  async stop(): Promise<void> {
    await this.receiver.stop();
  }

  async #step(random: Seeded): Promise<void> {
    const party = random.pick(this.parties);
    const kind = random.pick(KINDS);
    await this[kind](random, party);
  }

  #operator(random: Seeded, what: string, request: Ask): Promise<Entry> {
    const { method = 'POST', path, ...rest } = request;
    const url = () => `${random.pick(this.#system.fronts).operator}${path}`;
    // A key works for POST; a PATCH sets what it sets, however often.
    const insist = method === 'POST' && random.next() < 0.7;
    return this.ledger.ask({ what, url, method, token: OPERATOR_TOKEN, insist, ...rest });
  }

  async pay(random: Seeded, party: Party): Promise<void> {
    const reference = this.ledger.mark();
    const body = {
      ...party.base,
      reference,
      amount: random.whole(1, 5_000),
      beneficiary_id: random.pick(party.beneficiaries),
    };
    const { status, answer } = await this.#operator(random, 'payment', {
      path: '/payments',
      body,
      table: 'payments',
      marks: [reference],
    });
    if (status === 201) this.#payments.push({ id: answer?.body.payment_id, party });
  }

  #recent(random: Seeded): { id: string; party: Party } | undefined {
    return this.#payments.at(-random.whole(1, Math.min(RECENT, Math.max(1, this.#payments.length))));
  }

  async act(random: Seeded): Promise<void> {
    const payment = this.#recent(random);
    if (!payment) return;
    const body = { action: random.pick(ACTIONS), contact_id: random.pick(payment.party.approvers).id };
    await this.#operator(random, `action ${body.action}`, { path: `/payments/${payment.id}/actions`, body });
  }

  /** By the contact itself, over the client API. */
  async decide(random: Seeded): Promise<void> {
    const payment = this.#recent(random);
    if (!payment) return;
    const { clientId, approvers } = payment.party;
    const action = random.next() < 0.85 ? 'authorise' : 'reject';
    const { token } = random.pick(approvers);
    const url = () =>
      `${random.pick(this.#system.fronts).api}/payments/${payment.id}?client_id=${clientId}&action=${action}`;
    await this.ledger.ask({ what: `decision ${action}`, url, method: 'PATCH', token, insist: false });
  }

  async book(random: Seeded, party: Party): Promise<void> {
    const transaction_reference = this.ledger.mark();
    const body = {
      ...{ client_id: party.clientId, currency_account_id: party.accountId, transaction_reference },
      kind: random.pick(['CREDIT_TRANSACTION', 'DEBIT_TRANSACTION']),
      amount: { amount: `${random.whole(1, 900)}.${random.whole(10, 99)}`, currency: 'EUR' },
    };
    await this.#operator(random, 'transaction', {
      path: '/transactions',
      body,
      table: 'transactions',
      marks: [transaction_reference],
    });
  }

  async importPayments(random: Seeded, party: Party): Promise<void> {
    const marks = Array.from({ length: random.whole(2, 8) }, () => this.ledger.mark());
    const lines = marks.map((reference) => JSON.stringify({ ...party.base, reference })).join('\n');
    await this.#operator(random, 'import of payments', {
      path: '/imports/payments?notify=true',
      lines,
      table: 'payments',
      marks,
    });
  }

  async importActions(random: Seeded): Promise<void> {
    const lines = Array.from({ length: 4 }, () => this.#recent(random))
      .filter((payment) => payment !== undefined)
      .map(({ id }) => JSON.stringify({ payment_id: id, action: random.pick(['validate', 'send']) }));
    if (lines.length > 0)
      await this.#operator(random, 'import of actions', {
        path: '/imports/payment-actions',
        lines: lines.join('\n'),
        silent: true,
      });
  }

  async rename(random: Seeded, party: Party): Promise<void> {
    const body = { client_name: this.ledger.mark() };
    await this.#operator(random, 'client renamed', { method: 'PATCH', path: `/clients/${party.clientId}`, body });
  }

  /** Who may approve changes while others approve. */
  async permit(random: Seeded, party: Party): Promise<void> {
    const permissions = random.next() < 0.5 ? ['can_authorise_payments'] : [];
    const body = { clients: [{ client_id: party.clientId, permissions }] };
    const path = `/contacts/${random.pick(party.approvers).id}`;
    await this.#operator(random, 'permission', { method: 'PATCH', path, body, silent: true });
  }

  async hire(random: Seeded, party: Party): Promise<void> {
    const name = this.ledger.mark();
    const body = { name, email: `${name}@example.com`, clients: [{ client_id: party.clientId, permissions: [] }] };
    await this.#operator(random, 'contact', { path: '/contacts', body, table: 'contacts', marks: [name] });
  }

  async befriend(random: Seeded, party: Party): Promise<void> {
    const name = this.ledger.mark();
    const body = { client_id: party.clientId, beneficiary_name: name, iban: 'DE89370400440532013000' };
    const { status, answer } = await this.#operator(random, 'beneficiary', {
      path: '/beneficiaries',
      body,
      silent: false,
    });
    if (status === 201) party.beneficiaries.push(answer?.body.beneficiary_id);
  }

  async renameBeneficiary(random: Seeded, party: Party): Promise<void> {
    const path = `/beneficiaries/${random.pick(party.beneficiaries)}`;
    await this.#operator(random, 'beneficiary renamed', {
      method: 'PATCH',
      path,
      body: { beneficiary_name: this.ledger.mark() },
    });
  }

  async trade(random: Seeded, party: Party): Promise<void> {
    const { clientId: client_id, contactId: contact_id } = party;
    const reference = this.ledger.mark();
    const body = {
      client_id,
      contact_id,
      buy_currency: 'EUR',
      sell_currency: 'GBP',
      buy_amount: 1_000,
      rate: 1.17,
      reference,
    };
    const { status, answer } = await this.#operator(random, 'trade', {
      path: '/trades',
      body,
      table: 'trades',
      marks: [reference],
    });
    if (status === 201) party.trades.push(answer?.body.trade_id);
  }

  async moveTrade(random: Seeded, party: Party): Promise<void> {
    const body = { status: random.pick(['Created', 'Funds In Full']) };
    const path = `/trades/${random.pick(party.trades)}`;
    await this.#operator(random, 'trade moved', { method: 'PATCH', path, body, silent: true });
  }

  async payMany(random: Seeded, party: Party): Promise<void> {
    const { client_id, contact_id, trade_id, ...payment } = party.base;
    const trade = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 200, rate: 1.17 };
    const marks = [this.ledger.mark(), this.ledger.mark()];
    const payments = marks.map((reference) => ({ ...payment, trade: 0, reference }));
    await this.#operator(random, 'multi payment', {
      path: '/multipayments',
      body: { client_id, contact_id, trades: [trade], payments },
      table: 'payments',
      marks,
    });
  }

  async reportMass(random: Seeded, party: Party): Promise<void> {
    const errors = [{ code: 'E', message: this.ledger.mark(), details: 'x', request_index: 0 }];
    await this.#operator(random, 'mass beneficiary', {
      path: '/mass-beneficiaries',
      body: { client_id: party.clientId, errors },
    });
  }

  async quote(random: Seeded): Promise<void> {
    const body = { base_currency: 'CHF', rates: { EUR: random.whole(90, 110) / 100 } };
    await this.#operator(random, 'exchange rates', { method: 'PUT', path: '/exchange-rates', body, silent: true });
  }
}

/** Each as often as it is named. */
const KINDS = [
  ...(['pay', 'pay', 'pay', 'act', 'act', 'act', 'decide', 'decide', 'decide', 'book', 'book'] as const),
  ...(['importPayments', 'importActions', 'rename', 'permit', 'hire', 'befriend', 'renameBeneficiary'] as const),
  ...(['trade', 'moveTrade', 'payMany', 'reportMass', 'quote'] as const),
];

async function makeParty(system: System, receiver: Receiver, workflow: string): Promise<Party> {
  const [front] = system.fronts;
  const operator = (method: string, path: string, body?: unknown) =>
    call(`${front?.operator}${path}`, method, { body, token: OPERATOR_TOKEN });
  const service = { operator, query: (text: string, values?: unknown[]) => system.query(text, values) } as TestService;
  const eyes = { payment_approvals_enabled: workflow !== 'simple', authorisation_workflow: workflow };
  const world = await createWorld(service, `Client of ${workflow}`, eyes);
  const approvers: Party['approvers'] = [];
  for (const name of ['Ann', 'Bob', 'Cid', 'Dee']) {
    const { contactId } = await world.hire(name);
    approvers.push({ id: contactId, token: await accessToken(service, contactId, TOKEN_SECONDS) });
  }
  const opened = await operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'EUR' });
  await subscribe(system, world, receiver);
  const { clientId, contactId, beneficiaryId, tradeId, base } = world;
  return {
    ...{ clientId, contactId, workflow, base, approvers, accountId: opened.body.account_id },
    token: await accessToken(service, contactId, TOKEN_SECONDS),
    beneficiaries: [beneficiaryId],
    trades: [tradeId],
  };
}

async function subscribe(
  system: System,
  world: { clientId: string; contactId: string },
  receiver: Receiver,
): Promise<void> {
  const pool = createPool(system.databases.primary.url, log, { max: 1 });
  const { clientId, contactId } = world;
  const settings = {
    sandbox: true,
    brand: 'Service',
    vault: new Vault(Buffer.alloc(32, 7)),
    streamUrl: 'http://service.example',
  };
  const act = { now: new Date(), actor: 'faults', requestId: 'faults' };
  await transaction(pool, (tx) =>
    createSubscription(
      tx,
      act,
      {
        clientId,
        contactId,
        url: receiver.url(`/${clientId}`),
        types: ['PAYMENT_STATUS_CHANGE'],
        active: true,
        secret: 'secret',
      },
      settings,
    ),
  );
  await pool.end();
}
