/**
 * `npm run faults -- --minutes 60 --seed 1`: every fault in an order of the seed, again and again, under a workload of all changes. It ends
 * with 1 where something did not hold. `--only` takes a part of the names of faults; `--recovery` the seconds after which everything has to
 * work again, more than a minute where a machine does other things as well.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultPrograms, NO_DEFAULT_POSTGRESQL } from '../world/default-postgresql.ts';
import { FAULTS } from './faults.ts';
import { runRounds } from './rounds.ts';

const MINUTE_MS = 60_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
    recovery: { type: 'string', default: '60' },
  },
});
if (!defaultPrograms()) throw new Error(NO_DEFAULT_POSTGRESQL);
// Processes that start again and again begin with what the first one has compiled.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'lombard-test-compile-cache');
const seed = Number(values.seed ?? Date.now() % 100_000);
const end = performance.now() + Number(values.minutes) * MINUTE_MS;
const faults = FAULTS.filter(({ name }) => name.includes(values.only));
const say = (line: string) => void process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
say(`seed ${seed}, ${values.minutes} minutes, ${faults.length} faults a round`);
const isOver = () => performance.now() >= end;
const chosen = (round: number) => (round === 0 || !isOver() ? faults : undefined);
const findings = (
  await runRounds({ seed, faults: chosen, isOver, say, recoverySeconds: Number(values.recovery) })
).flat();
say(findings.length === 0 ? 'no finding' : `${findings.length} findings`);
// Sockets of processes that were killed can stay behind.
process.exit(findings.length === 0 ? 0 : 1);
