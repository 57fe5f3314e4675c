import { Problem } from '../errors.ts';
import { assign } from './assignment.ts';
import { bestCombination, type IndexedLevel, type Membership } from './combinations.ts';
import { Matching } from './matching.ts';
import { type Configuration, governingRule, type Rule } from './ruleset.ts';

/**
 * Who must approve a payment, who has, and who may now: pure functions (docs/decisions.md, 4).
 * A requirement is what governs one payment and is frozen when the payment is created.
 */
export type Requirement =
  | { kind: 'none' }
  /** Distinct people besides the creator, 1 to 4. */
  | { kind: 'eyes'; approvers: number }
  /** For each level its alternatives, each a list of group names; and the members of every group named. */
  | { kind: 'levels'; levels: string[][][]; groups: { name: string; members: string[] }[] };

export interface Progress {
  /** Contacts who approved, in the order they did. A contact that stands twice counts once. */
  approvals: readonly string[];
  /** The contact who created the payment. */
  creator: string;
  /** `payment_creator_approval_enabled`: creation counts as an approval where the creator is in a group that is named. */
  creatorApprovalEnabled: boolean;
  /** Contacts who may authorise payments of the client now; whether the creator is among them plays no part. */
  permitted: ReadonlySet<string>;
}

export interface CountedApproval {
  contact_id: string;
  /** From 1. For an approval that does not count: the first level that names one of the contact's groups, else 1. */
  level: number;
  /** False where the people who approved are more than any combination of alternatives can use. */
  counts: boolean;
  /** The creation of the payment, counted as an approval. */
  creation: boolean;
}

export interface LevelState {
  /** From 1. */
  level: number;
  /** Index into `one_of` of the alternative that the fewest further people complete (together with the other levels). */
  alternative: number;
  met: boolean;
  /** A place for each name in its `all_of` (eyes: for each approver, group null), with who fills it. */
  places: { group: string | null; contact_id: string | null }[];
}

export interface ApprovalState {
  /** The least number of further distinct people that completes every level. */
  remaining: number;
  complete: boolean;
  /** False: those who are permitted now cannot complete it; `remaining` then is the least number of places unfilled. */
  possible: boolean;
  /** The creation, where it counts, then the approvals as given, each contact once. */
  approvals: CountedApproval[];
  levels: LevelState[];
  /** Permitted contacts each of whose approval, as the next one, would lower `remaining`. */
  mayAuthorise: string[];
  /** Permitted approvers of the payment who have not acted: those who may reject while it is pending. */
  mayReject: string[];
}

/** The requirement that a rule makes, with the groups as this configuration fills them. */
export function requirementOf(configuration: Configuration, rule: Rule): Requirement {
  const levels = rule.groups.map(({ one_of }) => one_of.map(({ all_of }) => all_of));
  const named = new Set(levels.flat(2));
  const groups = configuration.groups
    .filter(({ name }) => named.has(name))
    .map(({ name, users }) => ({ name, members: users.map(({ id }) => id) }));
  return { kind: 'levels', levels, groups };
}

/**
 * The requirement for an amount, by the rule that governs it; `none` where no threshold is that low.
 * @param amount decimal string, converted to the ruleset's currency
 */
export function requirementFor(configuration: Configuration, amount: string): Requirement {
  const index = governingRule(configuration.ruleset, amount);
  return index === null ? { kind: 'none' } : requirementOf(configuration, configuration.ruleset.rules[index]!);
}

type LevelsRequirement = Extract<Requirement, { kind: 'levels' }>;

/** The requirement by index: groups in its order, people in the order in which the groups first name them. */
function indexed(requirement: LevelsRequirement) {
  const groupIndex = new Map(requirement.groups.map(({ name }, index) => [name, index]));
  const levels: IndexedLevel[] = requirement.levels.map((level) =>
    level.map((names) => names.map((name) => groupIndex.get(name)!)),
  );
  const people = new Map<string, number>();
  const members = requirement.groups.map((group) =>
    group.members.map((id) => {
      const known = people.get(id);
      if (known !== undefined) return known;
      people.set(id, people.size);
      return people.size - 1;
    }),
  );
  return { levels, people, ids: [...people.keys()], members };
}

function levelsState(requirement: LevelsRequirement, progress: Progress): ApprovalState {
  const { levels, people, ids, members } = indexed(requirement);
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
        return [{ group: requirement.groups[group]!.name, contact_id: acted[filledBy[slot]!] ?? null }];
      });
      const met = places.every(({ contact_id }) => contact_id !== null);
      return { level: index + 1, alternative: best.choice[index]!, met, places };
    }),
    mayAuthorise: ids.filter((_, person) => best.lowering.has(person)),
    mayReject: ids.filter((_, person) => waiting[person]),
  };
}

/** Eyes count people besides the creator (docs/decisions.md, 4), so creation never counts here, whatever the setting. */
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

/**
 * The state of one payment's approvals (docs/decisions.md, 4). The payment's status is not looked at: who may act here may
 * act only while the payment is pending.
 * An alternative that those who are permitted cannot complete is left out while another one can be completed, so that a
 * payment is never held up by it.
 */
export function approvalState(requirement: Requirement, progress: Progress): ApprovalState {
  if (requirement.kind === 'levels') return levelsState(requirement, progress);
  return eyesState(requirement.kind === 'eyes' ? requirement.approvers : 0, progress);
}

/**
 * Refuses a configuration with a rule that nobody could ever satisfy: all its levels together, people distinct. Who
 * creates is not looked at (docs/decisions.md, 4).
 * @param permitted contacts of the client who may authorise payments; the others do not count
 * @throws Problem ruleset_unsatisfiable, naming the rule, the first level that cannot be met together with those before
 *   it, and for each of its alternatives a group that lacks a person
 */
export function checkSatisfiable(configuration: Configuration, permitted: ReadonlySet<string>): void {
  for (const [ruleIndex, rule] of configuration.ruleset.rules.entries()) {
    const requirement = requirementOf(configuration, rule) as LevelsRequirement;
    const { levels, ids, members } = indexed(requirement);
    const able = members.map((group) => group.filter((person) => permitted.has(ids[person]!)));
    const membership: Membership = { people: ids.length, approved: members.map(() => []), able };
    if (bestCombination(levels, membership, true) !== null) continue;

    let before: number[] = [];
    for (const [levelIndex, level] of levels.entries()) {
      const best = bestCombination(levels.slice(0, levelIndex + 1), membership, true);
      if (best !== null) {
        before = best.choice.flatMap((alternative, index) => levels[index]![alternative]!);
        continue;
      }
      const lacking = level.map((groups, index) => {
        const matching = new Matching(ids.length, able);
        for (const group of before) matching.add(group);
        const group = groups.find((each) => !matching.add(each))!;
        return `one_of[${index}] lacks a person of group ${JSON.stringify(requirement.groups[group]!.name)}`;
      });
      const cannot = `level ${levelIndex + 1} cannot be met by distinct people who may authorise payments`;
      const others = levelIndex === 0 ? '' : ' beside those whom the levels before it need';
      const path = `ruleset.rules[${ruleIndex}].groups[${levelIndex}]`;
      throw new Problem('ruleset_unsatisfiable', { field: path, message: `${cannot}${others}: ${lacking.join('; ')}` });
    }
  }
}
