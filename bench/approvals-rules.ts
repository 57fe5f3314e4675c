import { parseArgs } from 'node:util';
import { type ApprovalRules, approvalState, type Progress } from '../src/approvals/rules/rules.ts';

/**
 * Evaluations per second of one payment's approvals: 50 groups of 20 users, and 5 levels of 5 alternatives (3,125 combinations). The
 * members of each group are drawn from all 400 people. Also measures the hardest cases that the limits accept.
 */
const GROUPS = 50;
const LEVELS = 5;
const ALTERNATIVES = 5;

let count = 0;
let state = 0;

/** mulberry32: the same seed gives the same cases. */
function random(below: number): number {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % below;
}

interface Case {
  rules: ApprovalRules;
  progress: Progress;
}

/**
 * A partly approved payment: people who may authorise do so, until there are `approvals`.
 * @param people how many contacts the members are drawn from
 * @param names group names of an alternative, fewest and most
 */
function make(people: number, users: number, names: [number, number], approvals: number, permittedShare = 1): Case {
  const groups = Array.from({ length: GROUPS }, (_, index) => {
    const members = new Set<string>();
    const wanted = Math.min(users, people);
    while (members.size < wanted) members.add(`CON${random(people)}`);
    return { name: `group ${index}`, members: [...members] };
  });
  const alternative = () =>
    Array.from({ length: names[0] + random(names[1] - names[0] + 1) }, () => `group ${random(GROUPS)}`);
  const levels = Array.from({ length: LEVELS }, () => Array.from({ length: ALTERNATIVES }, alternative));
  const rules: ApprovalRules = { kind: 'levels', levels, groups };
  const all = Array.from({ length: people }, (_, index) => `CON${index}`);
  const progress = {
    approvals: [] as string[],
    creator: 'CON0',
    creatorApprovalEnabled: random(2) === 1,
    permitted: new Set(all.filter(() => random(100) < permittedShare * 100)),
  };
  for (let given = 0; given < approvals; given += 1) {
    const { mayAuthorise } = approvalState(rules, progress);
    if (mayAuthorise.length === 0) break;
    progress.approvals.push(mayAuthorise[random(mayAuthorise.length)]!);
  }
  return { rules, progress };
}

function measure(name: string, cases: Case[]): void {
  // The first evaluations run before the compiler has optimised them; a server is past that stage.
  for (const { rules, progress } of [...cases, ...cases]) approvalState(rules, progress);
  const times: number[] = [];
  const heap = process.memoryUsage().heapUsed;
  const start = performance.now();
  for (const { rules, progress } of cases) {
    const began = performance.now();
    approvalState(rules, progress);
    times.push(performance.now() - began);
  }
  const seconds = (performance.now() - start) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!.toFixed(3);
  const rss = (process.memoryUsage().rss / 2 ** 20).toFixed(0);
  const grown = ((process.memoryUsage().heapUsed - heap) / 2 ** 20).toFixed(1);
  process.stdout.write(
    `${name.padEnd(52)} count ${cases.length}  ${Math.round(cases.length / seconds)}/s  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  ` +
      `max ${at(1)} ms  rss ${rss} MiB (heap ${grown})\n`,
  );
}

const cases = (make: () => Case) => Array.from({ length: count }, make);

/** `npm run bench -- approvals-rules [--count 300] [--seed 1]` */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { count: { type: 'string', default: '300' }, seed: { type: 'string', default: '1' } },
  });
  count = Number(values.count);
  state = Number(values.seed) >>> 0;
  measure(
    '50 groups x 20 users, no approval yet',
    cases(() => make(400, 20, [1, 3], 0)),
  );
  measure(
    '50 groups x 20 users, some approvals',
    cases(() => make(400, 20, [1, 3], random(8))),
  );
  measure(
    '50 groups x 20 users, 5 names, some approvals',
    cases(() => make(400, 20, [5, 5], random(25))),
  );
  measure(
    '50 groups x 100 users of 1,000, 5 names',
    cases(() => make(1000, 100, [5, 5], random(25))),
  );
  measure(
    'few people in many groups (24 of 30), 5 names',
    cases(() => make(30, 20, [5, 5], random(25))),
  );
  measure(
    'few people: 3 a group of 30, 1 to 5 names',
    cases(() => make(30, 3, [1, 5], random(12))),
  );
  measure(
    'nearly enough people (26), 5 names',
    cases(() => make(26, 8, [5, 5], random(25))),
  );
  measure(
    'one person too few (25 with the creator), 5 names',
    cases(() => make(25, 12, [5, 5], random(12))),
  );
  measure(
    'half of them without permission, 5 names',
    cases(() => make(50, 10, [5, 5], random(12), 0.5)),
  );
}
