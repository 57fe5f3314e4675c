import { setTimeout as pause } from 'node:timers/promises';
import { Seeded } from '../../src/sandbox/demonstration/seeded.ts';
import { until } from '../world/until.ts';
import { check } from './checks.ts';
import type { Fault } from './faults.ts';
import { FeedReader } from './feed-reader.ts';
import { System } from './system.ts';
import { Workload } from './workload.ts';

/** Answers after a fault that show that everything works again. */
const MIN_ANSWERS = 30;
const MAX_PAUSE_MS = 3_000;
/** Characters of why a client was not moved. */
const MAX_REASON_LENGTH = 200;

export interface Run {
  seed: number;
  /** Of a round, counted from 0: each is inflicted once, in an order of the seed. Undefined: there is no other round. */
  faults: (round: number) => readonly Fault[] | undefined;
  say: (line: string) => void;
  /** Whether the time is up: the round ends before its next fault, and is checked. */
  isOver?: () => boolean;
  /** How soon everything has to work again after a fault. */
  recoverySeconds: number;
  /** Two processes instead of four. */
  small?: boolean;
}

/** Inflicts faults on a system at work, and checks it after each round. @returns what did not hold, by round */
export async function runRounds({ seed, faults, say, recoverySeconds, isOver, small }: Run): Promise<string[][]> {
  const random = new Seeded(seed);
  const system = await System.start({ small });
  const findings: string[][] = [];
  let [workload, reader]: [Workload?, FeedReader?] = [];
  try {
    workload = await Workload.start(system, seed);
    reader = new FeedReader(system, seed);
    await workload.begun(recoverySeconds);
    for (let round = 0; ; round += 1) {
      const chosen = faults(round);
      if (!chosen) break;
      if (round > 0) workload.resume();
      for (const fault of shuffled(chosen, random)) {
        if (isOver?.()) break;
        if (fault.possible && !fault.possible(system)) continue;
        await pause(random.whole(0, MAX_PAUSE_MS));
        const began = performance.now();
        await fault.inflict(system, random);
        const over = performance.now();
        await recovered(system, workload, recoverySeconds);
        const [lasted, took] = [over - began, performance.now() - over].map((ms) => (ms / 1_000).toFixed(1));
        say(
          `${fault.name}: ${lasted} s, works again after ${took} s; ${workload.known.ledger.answered} calls answered`,
        );
        for (const death of system.processes.flatMap(({ deaths }) => deaths)) say(`  ${death}`);
      }
      await workload.pause();
      const faulty = await check({ system, known: workload.known, reader, recoverySeconds });
      const { entries, answered } = workload.known.ledger;
      say(
        `round ${round + 1}: ${entries.length} calls, ${entries.length - answered} without an answer, ${reader.changes.length} changes, ` +
          `${workload.known.receiver.received.length} deliveries, ${faulty.length} findings`,
      );
      for (const line of workload.known.ledger.tally()) say(`  ${line}`);
      say(`  moves of clients: ${workload.known.moves.length} done, ${system.releases} upgrades`);
      for (const [why, times] of Map.groupBy(workload.known.moveFaults, (each) => each))
        say(`  not moved ${times.length} times: ${why.slice(0, MAX_REASON_LENGTH)}`);
      for (const finding of faulty) say(`FINDING ${finding}`);
      findings.push(faulty);
    }
  } catch (error) {
    findings.push([(error as Error).message]);
    say(`FINDING ${(error as Error).stack}`);
    for (const process of system.processes) say(`${process.name}: ${process.said().slice(-3_000)}`);
  } finally {
    // Both ask until they are stopped, also where nobody will answer any more.
    await Promise.all([reader?.stop(), workload?.stop()]);
    await system.stop();
  }
  return findings;
}

/** All processes are ready, callers are answered, and receivers hear of it. */
async function recovered(system: System, { known: { ledger, receiver } }: Workload, seconds: number): Promise<void> {
  await Promise.all(system.processes.map((process) => process.ready(seconds)));
  const [answers, deliveries] = [ledger.answered + MIN_ANSWERS, receiver.received.length];
  await until(() => ledger.answered >= answers && receiver.received.length > deliveries, { seconds }).catch(() => {
    throw new Error(
      `nothing works within ${seconds} s: ${ledger.answered - answers + MIN_ANSWERS} calls were answered, ${receiver.received.length - deliveries} deliveries arrived`,
    );
  });
}

function shuffled<T>(list: readonly T[], random: Seeded): T[] {
  return list
    .map((each) => ({ each, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ each }) => each);
}
