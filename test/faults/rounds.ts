import { setTimeout as pause } from 'node:timers/promises';
import { Seeded } from '../../src/sandbox/demonstration/seeded.ts';
import { until } from '../world/command.ts';
import { check } from './checks.ts';
import type { Fault } from './faults.ts';
import { FeedReader } from './feed-reader.ts';
import { System } from './system.ts';
import { Workload } from './workload.ts';

/** Answers after a fault that show that everything works again. */
const MIN_ANSWERS = 30;
const RECOVERY_SECONDS = 60;
const MAX_PAUSE_MS = 3_000;

export interface Run {
  seed: number;
  /** Of a round, counted from 0: each is inflicted once, in an order of the seed. Undefined: there is no other round. */
  faults: (round: number) => readonly Fault[] | undefined;
  say: (line: string) => void;
  /** Two processes instead of four. */
  small?: boolean;
}

/** Inflicts faults on a system at work, and checks it after each round. @returns what did not hold, by round */
export async function runRounds({ seed, faults, say, small }: Run): Promise<string[][]> {
  const random = new Seeded(seed);
  const system = await System.start({ small });
  const findings: string[][] = [];
  try {
    const workload = await Workload.start(system, seed);
    const reader = new FeedReader(system, seed);
    for (let round = 0; ; round += 1) {
      const chosen = faults(round);
      if (!chosen) break;
      if (round > 0) workload.resume();
      for (const fault of shuffled(chosen, random)) {
        if (fault.possible && !fault.possible(system)) continue;
        await pause(random.whole(0, MAX_PAUSE_MS));
        const began = performance.now();
        await fault.inflict(system, random);
        const over = performance.now();
        await recovered(system, workload);
        const [lasted, took] = [over - began, performance.now() - over].map((ms) => (ms / 1_000).toFixed(1));
        say(`${fault.name}: ${lasted} s, works again after ${took} s; ${workload.ledger.answered} calls answered`);
      }
      await workload.pause();
      const faulty = await check({ system, workload, reader });
      const { entries, answered } = workload.ledger;
      say(
        `round ${round + 1}: ${entries.length} calls, ${entries.length - answered} without an answer, ${reader.changes.length} changes, ` +
          `${workload.receiver.received.length} deliveries, ${faulty.length} findings`,
      );
      for (const finding of faulty) say(`FINDING ${finding}`);
      findings.push(faulty);
    }
    await reader.stop();
    await workload.stop();
  } catch (error) {
    findings.push([(error as Error).message]);
    say(`FINDING ${(error as Error).stack}`);
    for (const process of system.processes) say(`${process.name}: ${process.said().slice(-3_000)}`);
  } finally {
    await system.stop();
  }
  return findings;
}

/** All processes are ready, callers are answered, and receivers hear of it. */
async function recovered(system: System, { ledger, receiver }: Workload): Promise<void> {
  await Promise.all(system.processes.map((process) => process.ready()));
  const [answers, deliveries] = [ledger.answered + MIN_ANSWERS, receiver.received.length];
  await until(() => ledger.answered >= answers && receiver.received.length > deliveries, RECOVERY_SECONDS).catch(() => {
    throw new Error(
      `nothing works within ${RECOVERY_SECONDS} s: ${ledger.answered - answers + MIN_ANSWERS} calls were answered, ${receiver.received.length - deliveries} deliveries arrived`,
    );
  });
}

function shuffled<T>(list: readonly T[], random: Seeded): T[] {
  return list
    .map((each) => ({ each, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ each }) => each);
}
