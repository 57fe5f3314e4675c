import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ApprovalRules, approvalState, type Progress, rulesForAmount } from '../../src/approvals/rules/rules.ts';
import {
  governingRule,
  MAX_ALTERNATIVES,
  MAX_GROUP_NAME_LENGTH,
  MAX_GROUPS,
  MAX_LEVELS,
  MAX_NAMES_PER_ALTERNATIVE,
  MAX_RULES,
  MAX_SCOPE_LENGTH,
  MAX_USERS_PER_GROUP,
} from '../../src/approvals/rules/ruleset.ts';
import { checkUsers, validateConfiguration } from '../../src/approvals/rules/ruleset-reader.ts';
import { checkSatisfiable } from '../../src/approvals/rules/satisfiability.ts';
import { Problem } from '../../src/values/errors.ts';

const seed = Number(process.env.LOMBARD_TEST_SEED ?? Date.now() % 2 ** 31);
const RUNS = 4000;

function refused(run: () => unknown, code: string, details: RegExp | string): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, code);
    if (typeof details === 'string') assert.equal(error.details.split(':')[0], details);
    else assert.match(error.details, details);
    return true;
  });
}

type Groups = Record<string, string[]>;

function levels(groups: Groups, ...wanted: string[][][]): ApprovalRules {
  const named = Object.entries(groups).filter(([name]) => wanted.flat(2).includes(name));
  return { kind: 'levels', levels: wanted, groups: named.map(([name, members]) => ({ name, members })) };
}

function progress(groups: Groups, approvals: string[], more: Partial<Progress> = {}): Progress {
  const permitted = new Set(Object.values(groups).flat());
  return { approvals, creator: 'creator', creatorApprovalEnabled: false, permitted, ...more };
}

// ---------------------------------------------------------------------------------------------------------------
// The examples of the decisions, as a table.

const ab: Groups = { a: ['ann', 'bob'], b: ['bob', 'cat'] };
const boss: Groups = { boss: ['dan'], staff: ['eve', 'fay'] };

for (const [name, rules, given, want] of [
  ['nothing needed', { kind: 'none' }, progress({}, []), { remaining: 0, complete: true, possible: true }],
  ['one name', levels(ab, [['a']]), progress(ab, []), { remaining: 1, mayAuthorise: ['ann', 'bob'] }],
  ['one name, met', levels(ab, [['a']]), progress(ab, ['ann']), { remaining: 0, complete: true, mayAuthorise: [] }],
  [
    'a name twice needs two persons',
    levels(ab, [['a', 'a']]),
    progress(ab, ['ann']),
    { remaining: 1, mayAuthorise: ['bob'] },
  ],
  ['one approval given twice counts once', levels(ab, [['a', 'a']]), progress(ab, ['ann', 'ann']), { remaining: 1 }],
  [
    'a person in two groups counts once',
    levels(ab, [['a']], [['b']]),
    progress(ab, ['bob']),
    { remaining: 1, mayAuthorise: ['ann', 'cat'] },
  ],
  [
    'an approval moves to another level as others arrive',
    levels(ab, [['a']], [['b']]),
    progress(ab, ['bob', 'ann']),
    { remaining: 0, complete: true },
  ],
  [
    'the cheapest alternative decides',
    levels({ ...ab, ...boss }, [['a', 'b'], ['boss']]),
    progress({ ...ab, ...boss }, []),
    { remaining: 1, mayAuthorise: ['dan'] },
  ],
  [
    'an alternative that its people cannot complete gives way to another',
    levels(boss, [['boss'], ['staff', 'staff']]),
    progress(boss, [], { permitted: new Set(['eve', 'fay']) }),
    { remaining: 2, possible: true, mayAuthorise: ['eve', 'fay'] },
  ],
  [
    'nobody can complete it: the places missing are counted',
    levels(boss, [['boss']], [['staff']]),
    progress(boss, ['eve'], { permitted: new Set(['eve', 'fay']) }),
    { remaining: 1, possible: false, mayAuthorise: [], mayReject: ['fay'] },
  ],
  [
    'an approval stays when its giver loses the permission',
    levels(boss, [['boss']], [['staff']]),
    progress(boss, ['dan'], { permitted: new Set(['fay']) }),
    { remaining: 1, possible: true, mayAuthorise: ['fay'] },
  ],
  [
    'the creator is no approver of its payment',
    levels(ab, [['a']]),
    progress(ab, [], { creator: 'ann' }),
    { remaining: 1, mayAuthorise: ['bob'], mayReject: ['bob'] },
  ],
  [
    'creation counts where the option is on',
    levels(ab, [['a']], [['b']]),
    progress(ab, [], { creator: 'bob', creatorApprovalEnabled: true }),
    { remaining: 1, mayAuthorise: ['ann', 'cat'] },
  ],
  [
    'creation does not count for a creator in no group that is named',
    levels(ab, [['a']]),
    progress(ab, [], { creator: 'zoe', creatorApprovalEnabled: true }),
    { remaining: 1, mayAuthorise: ['ann', 'bob'] },
  ],
  [
    'eyes are people besides the creator, whatever the option',
    { kind: 'eyes', approvers: 2 },
    progress(ab, ['ann'], { creator: 'bob', creatorApprovalEnabled: true }),
    { remaining: 1, possible: true, mayAuthorise: ['cat'], mayReject: ['cat'] },
  ],
  [
    'eyes without enough people',
    { kind: 'eyes', approvers: 4 },
    progress(ab, ['ann']),
    { remaining: 3, possible: false, mayAuthorise: ['bob', 'cat'] },
  ],
  [
    'eyes complete',
    { kind: 'eyes', approvers: 1 },
    progress(ab, ['cat']),
    { remaining: 0, complete: true, mayAuthorise: [] },
  ],
  ['simple', { kind: 'eyes', approvers: 0 }, progress(ab, []), { remaining: 0, complete: true, levels: [] }],
] as [string, ApprovalRules, Progress, object][]) {
  test(`state: ${name}`, () => assert.partialDeepStrictEqual(approvalState(rules, given), want));
}

test('state: each approval names the level it counts for, and keeps it while it can', () => {
  const rules = levels(ab, [['a']], [['b']]);
  const levelsOf = (approvals: string[]) =>
    approvalState(rules, progress(ab, approvals)).approvals.map(({ contact_id, level }) => [contact_id, level]);
  assert.deepEqual(levelsOf(['bob']), [['bob', 1]]);
  assert.deepEqual(levelsOf(['bob', 'cat']), [
    ['bob', 1],
    ['cat', 2],
  ]);
  assert.deepEqual(levelsOf(['bob', 'ann']), [
    ['bob', 2],
    ['ann', 1],
  ]);
});

test('state: the levels say who fills which place', () => {
  const given = progress(ab, ['cat'], { creator: 'bob', creatorApprovalEnabled: true });
  const { approvals, levels: shown } = approvalState(
    levels(
      ab,
      [
        ['a', 'b'],
        ['b', 'b', 'b'],
      ],
      [['a']],
    ),
    given,
  );
  assert.deepEqual(approvals, [
    { contact_id: 'bob', level: 1, counts: true, creation: true },
    { contact_id: 'cat', level: 1, counts: true, creation: false },
  ]);
  assert.deepEqual(shown, [
    {
      level: 1,
      alternative: 0,
      met: true,
      places: [
        { group: 'a', contact_id: 'bob' },
        { group: 'b', contact_id: 'cat' },
      ],
    },
    { level: 2, alternative: 0, met: false, places: [{ group: 'a', contact_id: null }] },
  ]);
});

test('state: an approval that no combination can use says so', () => {
  const { remaining, approvals } = approvalState(levels(ab, [['a']]), progress(ab, ['ann', 'bob']));
  assert.equal(remaining, 0);
  assert.deepEqual(
    approvals.map(({ contact_id, counts }) => [contact_id, counts]),
    [
      ['ann', true],
      ['bob', false],
    ],
  );
});

// ---------------------------------------------------------------------------------------------------------------
// Properties against an oracle that knows no matchings: it tries every set of people, alternative and place.

interface World {
  groups: Groups;
  levels: string[][][];
  progress: Progress;
}

const PEOPLE = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6'];
const NAMES = ['g0', 'g1', 'g2', 'g3', 'g4'];

const world: fc.Arbitrary<World> = fc
  .record({
    members: fc.array(fc.subarray(PEOPLE, { minLength: 1, maxLength: 5 }), {
      minLength: NAMES.length,
      maxLength: NAMES.length,
    }),
    levels: fc.array(
      fc.array(fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      { minLength: 1, maxLength: 3 },
    ),
    approvals: fc.shuffledSubarray(PEOPLE, { maxLength: 4 }),
    creator: fc.constantFrom(...PEOPLE),
    creatorApprovalEnabled: fc.boolean(),
    permitted: fc.oneof({ weight: 3, arbitrary: fc.constant(PEOPLE) }, { weight: 1, arbitrary: fc.subarray(PEOPLE) }),
  })
  .map(({ members, levels, approvals, creator, creatorApprovalEnabled, permitted }) => ({
    groups: Object.fromEntries(NAMES.map((name, index) => [name, members[index]!])),
    levels,
    progress: {
      approvals: approvals.filter((id) => id !== creator),
      creator,
      creatorApprovalEnabled,
      permitted: new Set(permitted),
    },
  }));

/** Every way to take one alternative of each level, as the list of names that it asks for. */
function combinations(levels: string[][][]): string[][] {
  return levels.reduce<string[][]>(
    (sofar, level) => sofar.flatMap((names) => level.map((more) => [...names, ...more])),
    [[]],
  );
}

/** The most places that distinct people of `people` can fill, by trying each of them and nobody for every place. */
function filled(places: string[], groups: Groups, people: string[]): number {
  const [place, ...rest] = places;
  if (place === undefined) return 0;
  let most = filled(rest, groups, people);
  for (const id of people) {
    if (most === places.length) break;
    if (!groups[place]!.includes(id)) continue;
    most = Math.max(
      most,
      1 +
        filled(
          rest,
          groups,
          people.filter((other) => other !== id),
        ),
    );
  }
  return most;
}

function subsets(people: string[]): string[][] {
  const all: string[][] = [[]];
  for (const id of people) all.push(...all.map((set) => [...set, id]));
  return all;
}

function oracle({ groups, levels, progress: given }: World) {
  const named = new Set(levels.flat(2).flatMap((name) => groups[name]!));
  const first = given.creatorApprovalEnabled && named.has(given.creator) ? [given.creator] : [];
  const acted = [...first, ...given.approvals];
  const waiting = PEOPLE.filter((id) => given.permitted.has(id) && id !== given.creator && !acted.includes(id));
  const all = combinations(levels);
  const complete = (people: string[]) => all.some((places) => filled(places, groups, people) === places.length);
  const possible = complete([...acted, ...waiting]);
  const remaining = (people: string[]): number => {
    if (!possible) return Math.min(...all.map((places) => places.length - filled(places, groups, people)));
    const others = waiting.filter((id) => !people.includes(id));
    return Math.min(
      ...subsets(others)
        .filter((more) => complete([...people, ...more]))
        .map((more) => more.length),
    );
  };
  const now = remaining(acted);
  return {
    remaining: now,
    possible,
    mayAuthorise: waiting.filter((id) => remaining([...acted, id]) < now),
    mayReject: waiting.filter((id) => named.has(id)),
  };
}

test(`state: equals the brute-force oracle (seed ${seed})`, (t) => {
  const seen = { impossible: 0, complete: 0, partly: 0, choosy: 0 };
  fc.assert(
    fc.property(world, (given) => {
      const state = approvalState(levels(given.groups, ...given.levels), given.progress);
      const want = oracle(given);
      const got = { remaining: state.remaining, possible: state.possible };
      assert.deepEqual(got, { remaining: want.remaining, possible: want.possible });
      assert.deepEqual(state.mayAuthorise.toSorted(), want.mayAuthorise);
      assert.deepEqual(state.mayReject.toSorted(), want.mayReject);
      assert.equal(state.complete, want.remaining === 0);
      if (!state.possible) seen.impossible += 1;
      else if (state.complete) seen.complete += 1;
      else seen.partly += 1;
      if (state.mayAuthorise.length > 0 && state.mayAuthorise.length < state.mayReject.length) seen.choosy += 1;
    }),
    { numRuns: RUNS, seed },
  );
  t.diagnostic(`seed ${seed}, of ${RUNS}: ${JSON.stringify(seen)}`);
  for (const [kind, times] of Object.entries(seen)) assert.ok(times > RUNS / 50, `too few cases are ${kind}: ${times}`);
});

test(`state: the levels shown are a true arrangement of the approvals (seed ${seed})`, () => {
  fc.assert(
    fc.property(world, (given) => {
      const state = approvalState(levels(given.groups, ...given.levels), given.progress);
      const places = state.levels.flatMap((level) => level.places);
      const fillers = places.flatMap(({ contact_id }) => contact_id ?? []);
      assert.equal(places.length - fillers.length, state.remaining);
      assert.equal(new Set(fillers).size, fillers.length, 'one person counts once');
      for (const { level, alternative, met, places: shown } of state.levels) {
        assert.deepEqual(
          shown.map(({ group }) => group),
          given.levels[level - 1]![alternative],
        );
        assert.equal(
          met,
          shown.every(({ contact_id }) => contact_id !== null),
        );
        for (const { group, contact_id } of shown) {
          assert.ok(contact_id === null || given.groups[group!]!.includes(contact_id));
        }
      }
      for (const { contact_id, level, counts } of state.approvals) {
        const at = state.levels.find((each) => each.places.some((place) => place.contact_id === contact_id));
        assert.equal(counts, at !== undefined);
        if (at !== undefined) assert.equal(level, at.level);
        assert.ok(level >= 1 && level <= given.levels.length);
      }
    }),
    { numRuns: RUNS, seed },
  );
});

test(`state: whoever may authorise lowers it by one, step by step to the end (seed ${seed})`, () => {
  fc.assert(
    fc.property(world, fc.infiniteStream(fc.nat()), (given, picks) => {
      const rules = levels(given.groups, ...given.levels);
      const approvals = [...given.progress.approvals];
      let state = approvalState(rules, given.progress);
      while (state.mayAuthorise.length > 0) {
        const before = state.remaining;
        approvals.push(state.mayAuthorise[picks.next().value! % state.mayAuthorise.length]!);
        state = approvalState(rules, { ...given.progress, approvals });
        assert.equal(state.remaining, before - 1);
      }
      assert.equal(
        state.complete,
        state.possible,
        'a payment that can be completed never comes to a stop before it is',
      );
    }),
    { numRuns: RUNS, seed },
  );
});

test(`satisfiable: equals the brute-force oracle, who creates is not looked at (seed ${seed})`, (t) => {
  let unsatisfiable = 0;
  fc.assert(
    fc.property(world, ({ groups, levels: wanted, progress: { permitted } }) => {
      const configuration = {
        groups: Object.entries(groups).map(([name, users]) => ({
          name,
          scope: 'payments',
          users: users.map((id) => ({ id })),
        })),
        ruleset: {
          currency: 'EUR',
          rules: [
            {
              minimum_threshold: '0',
              groups: wanted.map((level) => ({ one_of: level.map((all_of) => ({ all_of })) })),
            },
          ],
        },
      };
      const met = (count: number) =>
        combinations(wanted.slice(0, count)).some((places) => filled(places, groups, [...permitted]) === places.length);
      if (met(wanted.length)) return checkSatisfiable(configuration, permitted);
      unsatisfiable += 1;
      const level = wanted.findIndex((_, index) => !met(index + 1));
      const path = `ruleset.rules[0].groups[${level}]`;
      refused(() => checkSatisfiable(configuration, permitted), 'ruleset_unsatisfiable', path);
    }),
    { numRuns: RUNS, seed },
  );
  t.diagnostic(`${unsatisfiable} of ${RUNS} could not be satisfied`);
  assert.ok(unsatisfiable > RUNS / 20 && unsatisfiable < RUNS);
});

// ---------------------------------------------------------------------------------------------------------------
// Configurations.

const level = (...all_of: string[]) => ({ one_of: [{ all_of }] });
const ruleAt = (minimum_threshold: unknown, ...groups: unknown[]) => ({ minimum_threshold, groups });
const two = [
  { name: 'a', users: [{ id: 'ann' }, { id: 'bob' }] },
  { name: 'b', scope: 'wages', users: [{ id: 'bob', name: 'not read', email: 'not read' }] },
];
const body = (rules: unknown, groups: unknown = two, currency: unknown = 'EUR') => ({
  groups,
  ruleset: { currency, rules },
});
const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));
const users = (count: number) => many(count, (index) => ({ id: `c${index}` }));

test('configuration: what is accepted comes back in order, thresholds digit for digit', () => {
  assert.deepEqual(validateConfiguration(body([ruleAt('10000.50', level('a', 'a')), ruleAt(0, level('b'))])), {
    groups: [
      { name: 'a', scope: 'payments', users: [{ id: 'ann' }, { id: 'bob' }] },
      { name: 'b', scope: 'wages', users: [{ id: 'bob' }] },
    ],
    ruleset: {
      currency: 'EUR',
      rules: [
        { minimum_threshold: '10000.50', groups: [level('a', 'a')] },
        { minimum_threshold: '0', groups: [level('b')] },
      ],
    },
  });
  assert.deepEqual(validateConfiguration(body([], [])), { groups: [], ruleset: { currency: 'EUR', rules: [] } });
});

test('configuration: a group may have a name that objects inherit', () => {
  const groups = [
    { name: '__proto__', users: [{ id: 'ann' }] },
    { name: 'constructor', users: [{ id: 'bob' }] },
  ];
  const configuration = validateConfiguration(body([ruleAt(0, level('__proto__'), level('constructor'))], groups));
  const state = approvalState(rulesForAmount(configuration, '1'), progress({ x: ['ann', 'bob'] }, ['bob']));
  assert.deepEqual([state.remaining, state.mayAuthorise], [1, ['ann']]);
  refused(
    () => validateConfiguration(body([ruleAt(0, level('toString'))])),
    'invalid_body',
    /one_of\[0\]\.all_of\[0\]/,
  );
});

const fullRule = (index: number) =>
  ruleAt(
    index,
    ...many(MAX_LEVELS, () => ({
      one_of: many(MAX_ALTERNATIVES, () => level(...many(MAX_NAMES_PER_ALTERNATIVE, (i) => `g${i}`)).one_of[0]),
    })),
  );
const fullGroups = many(MAX_GROUPS, (index) => ({
  name: `g${index}`.padEnd(index < 10 ? 0 : MAX_GROUP_NAME_LENGTH, 'x'),
  scope: 's'.repeat(MAX_SCOPE_LENGTH),
  users: users(MAX_USERS_PER_GROUP),
}));

test('configuration: everything at its limit is accepted', () => {
  const configuration = validateConfiguration(body(many(MAX_RULES, fullRule), fullGroups));
  assert.equal(configuration.groups.length, MAX_GROUPS);
  checkSatisfiable(configuration, new Set(users(MAX_USERS_PER_GROUP).map(({ id }) => id)));
});

const rulesPath = 'ruleset.rules';
for (const [name, given, path] of [
  ['no object', [], 'body'],
  ['no groups', { ruleset: { currency: 'EUR', rules: [] } }, 'groups'],
  ['a group that is null', body([], [null]), 'groups[0]'],
  ['a group without a name', body([], [{ users: [] }]), 'groups[0].name'],
  ['a blank name', body([], [{ name: ' ', users: [] }]), 'groups[0].name'],
  ['a name with U+0000', body([], [{ name: 'a\u0000', users: [] }]), 'groups[0].name'],
  ['half a surrogate pair', body([], [{ name: 'a\ud800', users: [] }]), 'groups[0].name'],
  ['a name over its limit', body([], [{ name: 'n'.repeat(MAX_GROUP_NAME_LENGTH + 1), users: [] }]), 'groups[0].name'],
  ['an empty scope', body([], [{ name: 'a', scope: '', users: [] }]), 'groups[0].scope'],
  ['a scope of null', body([], [{ name: 'a', scope: null, users: [] }]), 'groups[0].scope'],
  [
    'a scope over its limit',
    body([], [{ name: 'a', scope: 's'.repeat(MAX_SCOPE_LENGTH + 1), users: [] }]),
    'groups[0].scope',
  ],
  ['no users', body([], [{ name: 'a' }]), 'groups[0].users'],
  ['a user without an id', body([], [{ name: 'a', users: [{ name: 'Ann' }] }]), 'groups[0].users[0].id'],
  ['a user twice in a group', body([], [{ name: 'a', users: [{ id: 'x' }, { id: 'x' }] }]), 'groups[0].users[1].id'],
  ['a group name twice', body([], [...two, { name: 'a', users: [] }]), 'groups[2].name'],
  [
    'groups over their limit',
    body(
      [],
      many(MAX_GROUPS + 1, (i) => ({ name: `g${i}`, users: [] })),
    ),
    'groups',
  ],
  ['users over their limit', body([], [{ name: 'a', users: users(MAX_USERS_PER_GROUP + 1) }]), 'groups[0].users'],
  ['no ruleset', { groups: two }, 'ruleset'],
  ['a currency in small letters', body([], two, 'eur'), 'ruleset.currency'],
  ['a currency and a line break', body([], two, 'EUR\n'), 'ruleset.currency'],
  ['no currency', { groups: two, ruleset: { rules: [] } }, 'ruleset.currency'],
  ['rules that are no list', body({ 0: 1 }), rulesPath],
  ['rules over their limit', body(many(MAX_RULES + 1, (i) => ruleAt(i, level('a')))), rulesPath],
  ['no threshold', body([{ groups: [level('a')] }]), `${rulesPath}[0].minimum_threshold`],
  [
    'a negative threshold',
    body([ruleAt(0, level('a')), ruleAt(-0.01, level('a'))]),
    `${rulesPath}[1].minimum_threshold`,
  ],
  ['an infinite threshold', body([ruleAt(Number.POSITIVE_INFINITY, level('a'))]), `${rulesPath}[0].minimum_threshold`],
  ['a threshold that is no number', body([ruleAt('NaN', level('a'))]), `${rulesPath}[0].minimum_threshold`],
  ['a threshold with too many digits', body([ruleAt('1e30', level('a'))]), `${rulesPath}[0].minimum_threshold`],
  [
    'a threshold with too fine a fraction',
    body([ruleAt('0.000000001', level('a'))]),
    `${rulesPath}[0].minimum_threshold`,
  ],
  [
    'a threshold twice',
    body([ruleAt('100', level('a')), ruleAt('1e2', level('b'))]),
    `${rulesPath}[1].minimum_threshold`,
  ],
  [
    'the same threshold with zeros',
    body([ruleAt('100', level('a')), ruleAt('100.00', level('b'))]),
    `${rulesPath}[1].minimum_threshold`,
  ],
  [
    'zero and minus zero',
    body([ruleAt('0', level('a')), ruleAt('-0', level('b'))]),
    `${rulesPath}[1].minimum_threshold`,
  ],
  ['no level', body([ruleAt(0)]), `${rulesPath}[0].groups`],
  ['levels over their limit', body([ruleAt(0, ...many(MAX_LEVELS + 1, () => level('a')))]), `${rulesPath}[0].groups`],
  ['no alternative', body([ruleAt(0, level('a'), { one_of: [] })]), `${rulesPath}[0].groups[1].one_of`],
  [
    'alternatives over their limit',
    body([ruleAt(0, { one_of: many(MAX_ALTERNATIVES + 1, () => ({ all_of: ['a'] })) })]),
    `${rulesPath}[0].groups[0].one_of`,
  ],
  [
    'an empty alternative',
    body([ruleAt(0, { one_of: [{ all_of: ['a'] }, { all_of: [] }] })]),
    `${rulesPath}[0].groups[0].one_of[1].all_of`,
  ],
  [
    'names over their limit',
    body([ruleAt(0, level(...many(MAX_NAMES_PER_ALTERNATIVE + 1, () => 'a')))]),
    `${rulesPath}[0].groups[0].one_of[0].all_of`,
  ],
  [
    'an unknown group',
    body([ruleAt(0, level('a')), ruleAt(1, level('a', 'c'))]),
    `${rulesPath}[1].groups[0].one_of[0].all_of[1]`,
  ],
  [
    'a name that is no text',
    body([ruleAt(0, level(7 as unknown as string))]),
    `${rulesPath}[0].groups[0].one_of[0].all_of[0]`,
  ],
] as [string, unknown, string][]) {
  test(`configuration: ${name} is refused at ${path}`, () => {
    refused(() => validateConfiguration(given), 'invalid_body', path);
  });
}

test('configuration: every user must be a contact of the client', () => {
  const configuration = validateConfiguration(body([]));
  checkUsers(configuration, new Set(['ann', 'bob', 'cat']));
  refused(() => checkUsers(configuration, new Set(['ann'])), 'invalid_body', 'groups[0].users[1].id');
});

test('configuration: unsatisfiable rules name the level and the groups that lack a person', () => {
  const configuration = validateConfiguration(
    body([ruleAt(0, level('a')), ruleAt(5, level('a'), { one_of: [{ all_of: ['a', 'a'] }, { all_of: ['b', 'b'] }] })]),
  );
  refused(
    () => checkSatisfiable(configuration, new Set(['ann', 'bob'])),
    'ruleset_unsatisfiable',
    /^ruleset\.rules\[1\]\.groups\[1\]: level 2 .*one_of\[0\] lacks a person of group "a"; one_of\[1\] lacks a person of group "b"$/,
  );
  refused(() => checkSatisfiable(configuration, new Set()), 'ruleset_unsatisfiable', 'ruleset.rules[0].groups[0]');
});

test('governing rule: the highest threshold that is not above the amount', () => {
  const { ruleset } = validateConfiguration(
    body([
      ruleAt('1000', level('a')),
      ruleAt('100.10', level('a')),
      ruleAt('0.3', level('b')),
      ruleAt('90071992547409931', level('b')),
    ]),
  );
  const table: [string, number | null][] = [
    ['0', null],
    ['0.29999999', null],
    ['0.3', 2],
    ['100.09', 2],
    ['100.1', 1],
    ['999.999', 1],
    ['1000.00', 0],
    ['90071992547409930', 0],
    ['90071992547409931', 3],
  ];
  for (const [amount, index] of table) assert.equal(governingRule(ruleset, amount), index, amount);
});

test('governing rule: below every threshold no approval is needed', () => {
  const configuration = validateConfiguration(body([ruleAt('10', level('a'), level('b'))]));
  assert.deepEqual(rulesForAmount(configuration, '9.99'), { kind: 'none' });
  assert.deepEqual(rulesForAmount(configuration, '10'), {
    kind: 'levels',
    levels: [[['a']], [['b']]],
    groups: [
      { name: 'a', members: ['ann', 'bob'] },
      { name: 'b', members: ['bob'] },
    ],
  });
});
