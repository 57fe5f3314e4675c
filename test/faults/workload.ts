import { setTimeout as pause } from 'node:timers/promises';
import { Seeded } from '../../src/sandbox/demonstration/seeded.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { APPLICATION, call } from '../world/service.ts';
import { until } from '../world/until.ts';
import { ACTS, type Act } from './acts/acts.ts';
import { Caller } from './caller.ts';
import { Known } from './known.ts';
import { Ledger } from './ledger.ts';
import { makeParty, openMarkets, type Party, WORKFLOWS } from './party.ts';
import { OPERATOR_TOKEN, type System } from './system.ts';

const CALLERS = 8;
const BEGINNING_SECONDS = 180;
const MAX_PAUSE_MS = 60;
/** Share of deliveries that a receiver refuses, and how long it takes at most. */
const REFUSED = 0.05;
const MAX_ANSWER_MS = 20;

/** Callers that change everything that can be changed, while whatever happens to the system happens. */
export class Workload {
  readonly known: Known;
  readonly #seed: number;
  /** Each act once, before chance decides. */
  readonly #first: Act[] = [...new Set(ACTS)];
  #unfinished = this.#first.length;
  #running = false;
  #callers: Promise<void>[] = [];

  private constructor(known: Known, seed: number) {
    this.known = known;
    this.#seed = seed;
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
    await openMarkets(system);
    const parties: Party[] = [];
    for (const workflow of WORKFLOWS) parties.push(await makeParty(system, receiver, { workflow }));
    const guarded = await makeParty(system, receiver, { workflow: '4-eyes', approval_step_up: true });
    const alone = await makeParty(system, receiver, { workflow: 'simple', approval_step_up: true });
    const playground = await makeParty(system, undefined, { workflow: 'simple' });
    const known = new Known(system, { ledger: new Ledger(seed), receiver, parties, guarded, alone, playground });
    const { body } = await call(`${system.fronts[0]?.operator}/applications`, 'POST', {
      token: OPERATOR_TOKEN,
      body: APPLICATION,
    });
    known.clientSecret = body.client_secret;
    const workload = new Workload(known, seed);
    workload.resume();
    return workload;
  }

  resume(): void {
    const { ledger, parties, failures } = this.known;
    this.#running = true;
    this.#callers = Array.from({ length: CALLERS }, async (_, n) => {
      const random = new Seeded(this.#seed * 1_000 + n + ledger.entries.length);
      while (this.#running) {
        const first = this.#first.shift();
        const act = first ?? random.pick(ACTS);
        await act(new Caller(this.known, random, random.pick(parties))).catch((error: Error) =>
          failures.push(`${act.name}: ${error.message}`),
        );
        if (first) this.#unfinished -= 1;
        await pause(random.whole(0, MAX_PAUSE_MS));
      }
    });
  }

  /** Waits until each act has been done once, so that each check has something to look at. A slower machine gets longer. */
  async begun(recoverySeconds: number): Promise<void> {
    await until(() => this.#unfinished === 0, { seconds: Math.max(BEGINNING_SECONDS, 2 * recoverySeconds) });
  }

  /** Ends when everything that was asked for insistently is answered. */
  async pause(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#callers);
  }

  /** Ends at once, whatever is still unanswered. */
  async stop(): Promise<void> {
    this.known.ledger.close();
    await this.pause();
    await this.known.receiver.stop();
  }
}
