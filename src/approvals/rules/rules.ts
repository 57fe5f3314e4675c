import { assign } from './assignment.ts';
import { bestCombination } from './combinations.ts';
import type { IndexedLevel, Membership } from './matching.ts';
import { type Configuration, governingRule, type Rule } from './ruleset.ts';

/**
 * Who must approve a payment, who has, and who may now: pure functions (docs/decisions.md, 4).
 * The rules of one payment are frozen when it is created.
 */
export type ApprovalRules =
  | { kind: 'none' }
  /** The creator alone, whatever its permissions. */
  | { kind: 'own'; creator: string }
  /** Distinct people other than the creator, 1 to 4. */
  | { kind: 'eyes'; approvers: number }
  /** For each level its alternatives, each a list of group names; and the members of every group that is named. */
  | { kind: 'levels'; levels: string[][][]; groups: { name: string; members: string[] }[] };

export interface Progress {
  /** Contacts who approved, in order. A contact that is listed twice counts once. */
  approvals: readonly string[];
  /** The contact who created the payment. */
  creator: string;
  /**
   * Whether the creation counts as an approval. With levels it does if the creator is in a group that is named
   * (`payment_creator_approval_enabled`). Where the creator alone approves, it always does. With eyes it never does.
   */
  creatorApprovalEnabled: boolean;
  /** Contacts who may authorise payments of the client now. Whether the creator is one of them makes no difference. */
  permitted: ReadonlySet<string>;
}

export interface CountedApproval {
  contact_id: string;
  /** From 1. If the approval does not count: the first level that names one of the contact's groups, or else 1. */
  level: number;
  /** False if more people approved than any combination of alternatives can use. */
  counts: boolean;
  /** Whether this is the creation of the payment, counted as an approval. */
  creation: boolean;
}

export interface LevelState {
  /** From 1. */
  level: number;
  /** Index into `one_of` of the alternative that needs the fewest further people, together with the other levels. */
  alternative: number;
  met: boolean;
  /** A place for each name in its `all_of`, and who fills it. For eyes: a place for each approver, with group null. */
  places: { group: string | null; contact_id: string | null }[];
}

export interface ApprovalState {
  /** The smallest number of further distinct people that completes every level. */
  remaining: number;
  complete: boolean;
  /** False if the people who are permitted now cannot complete it. `remaining` then is the smallest number of unfilled places. */
  possible: boolean;
  /** The creation, if it counts, and then the approvals in order, each contact once. */
  approvals: CountedApproval[];
  levels: LevelState[];
  /** Permitted contacts whose approval, as the next one, would lower `remaining`. */
  mayAuthorise: string[];
  /** Permitted approvers of the payment who have not acted. They may reject while it is pending. */
  mayReject: string[];
}

/** The approval rules of one rule of a ruleset, with the groups of this configuration. */
export function rulesFor(configuration: Configuration, rule: Rule): ApprovalRules {
  const levels = rule.groups.map(({ one_of }) => one_of.map(({ all_of }) => all_of));
  const named = new Set(levels.flat(2));
  const groups = configuration.groups
    .filter(({ name }) => named.has(name))
    .map(({ name, users }) => ({ name, members: users.map(({ id }) => id) }));
  return { kind: 'levels', levels, groups };
}

/**
 * The approval rules for an amount, from the rule that applies to it; `none` if no threshold is low enough.
 * @param amount decimal string, converted to the ruleset's currency
 */
export function rulesForAmount(configuration: Configuration, amount: string): ApprovalRules {
  const index = governingRule(configuration.ruleset, amount);
  return index === null ? { kind: 'none' } : rulesFor(configuration, configuration.ruleset.rules[index]!);
}

export type LevelRules = Extract<ApprovalRules, { kind: 'levels' }>;

/** The rules by index: groups in order, people in the order in which the groups first name them. */
export function indexed(rules: LevelRules) {
  const groupIndex = new Map(rules.groups.map(({ name }, index) => [name, index]));
  const levels: IndexedLevel[] = rules.levels.map((level) =>
    level.map((names) => names.map((name) => groupIndex.get(name)!)),
  );
  const people = new Map<string, number>();
  const members = rules.groups.map((group) =>
    group.members.map((id) => {
      const known = people.get(id);
      if (known !== undefined) return known;
      people.set(id, people.size);
      return people.size - 1;
    }),
  );
  return { levels, people, ids: [...people.keys()], members };
}

function levelsState(rules: LevelRules, progress: Progress): ApprovalState {
  const { levels, people, ids, members } = indexed(rules);
  const { creator, permitted } = progress;
  const creation = progress.creatorApprovalEnabled && people.has(creator);
  const acted = [...new Set(creation ? [creator, ...progress.approvals] : progress.approvals)];
  const approved = new Set(acted.map((id) => people.get(id) ?? -1));
  const waiting = ids.map((id, person) => permitted.has(id) && id !== creator && !approved.has(person));
  const membership: Membership = {
    people: ids.length,
    approved: members.map((group) => group.filter((person) => approved.has(person))),
    able: members.map((group) => group.filter((person) => approved.has(person) || waiting[person])),
  };
  const completable = bestCombination(levels, membership, true);
  const best = completable ?? bestCombination(levels, membership, false)!;

  const slots = levels.flatMap((level, index) => level[best.choice[index]!]!.map((group) => ({ level: index, group })));
  const isIn = (id: string, group: number) => {
    const person = people.get(id);
    return person !== undefined && membership.approved[group]!.includes(person);
  };
  const filledBy = assign(slots, acted.length, (approval, group) => isIn(acted[approval]!, group));

  return {
    remaining: best.remaining,
    complete: best.remaining === 0,
    possible: completable !== null,
    approvals: acted.map((id, index) => {
      const slot = filledBy.indexOf(index);
      const named = levels.findIndex((level) => level.some((groups) => groups.some((group) => isIn(id, group))));
      return {
        contact_id: id,
        level: slot === -1 ? Math.max(named, 0) + 1 : slots[slot]!.level + 1,
        counts: slot !== -1,
        creation: creation && id === creator,
      };
    }),
    levels: levels.map((_, index) => {
      const places = slots.flatMap(({ level, group }, slot) => {
        if (level !== index) return [];
        return [{ group: rules.groups[group]!.name, contact_id: acted[filledBy[slot]!] ?? null }];
      });
      const met = places.every(({ contact_id }) => contact_id !== null);
      return { level: index + 1, alternative: best.choice[index]!, met, places };
    }),
    mayAuthorise: ids.filter((_, person) => best.lowering.has(person)),
    mayReject: ids.filter((_, person) => waiting[person]),
  };
}

/** Eyes count people other than the creator (docs/decisions.md, 4). So the creation never counts here, whatever the setting. */
function eyesState(approvers: number, progress: Progress): ApprovalState {
  const acted = [...new Set(progress.approvals)].filter((id) => id !== progress.creator);
  const waiting = [...progress.permitted].filter((id) => id !== progress.creator && !acted.includes(id));
  const remaining = Math.max(0, approvers - acted.length);
  const places = Array.from({ length: approvers }, (_, index) => ({ group: null, contact_id: acted[index] ?? null }));
  return {
    remaining,
    complete: remaining === 0,
    possible: waiting.length >= remaining,
    approvals: acted.map((id, index) => ({ contact_id: id, level: 1, counts: index < approvers, creation: false })),
    levels: approvers === 0 ? [] : [{ level: 1, alternative: 0, met: remaining === 0, places }],
    mayAuthorise: remaining === 0 ? [] : waiting,
    mayReject: waiting,
  };
}

/** The creator gives the only approval, perhaps by the creation itself. */
function ownState(creator: string, { approvals, creatorApprovalEnabled: creation }: Progress): ApprovalState {
  const done = creation || approvals.includes(creator);
  const waiting = done ? [] : [creator];
  return {
    remaining: waiting.length,
    complete: done,
    possible: true,
    approvals: done ? [{ contact_id: creator, level: 1, counts: true, creation }] : [],
    levels: [{ level: 1, alternative: 0, met: done, places: [{ group: null, contact_id: done ? creator : null }] }],
    mayAuthorise: waiting,
    mayReject: waiting,
  };
}

/**
 * The state of one payment's approvals (docs/decisions.md, 4). It ignores the payment's status: whoever may act here may act only while the
 * payment is pending. An alternative that the permitted people cannot complete is left out as long as another one can be completed. So it
 * never holds up a payment.
 */
export function approvalState(rules: ApprovalRules, progress: Progress): ApprovalState {
  if (rules.kind === 'levels') return levelsState(rules, progress);
  if (rules.kind === 'own') return ownState(rules.creator, progress);
  return eyesState(rules.kind === 'eyes' ? rules.approvers : 0, progress);
}
