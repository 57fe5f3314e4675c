import { Problem } from '../../values/errors.ts';
import { bestCombination } from './combinations.ts';
import { type IndexedLevel, Matching, type Membership } from './matching.ts';
import { indexed, type LevelRules, rulesFor } from './rules.ts';
import type { Configuration } from './ruleset.ts';

/**
 * Refuses a configuration with a rule that nobody could ever satisfy: all its levels together, with distinct people. It ignores who creates
 * the payment (docs/decisions.md, 4).
 * @param permitted contacts of the client who may authorise payments; others do not count
 * @throws Problem ruleset_unsatisfiable. It names the rule, the first level that cannot be met together with those before it, and for each
 * of its alternatives a group that lacks a person
 */
export function checkSatisfiable(configuration: Configuration, permitted: ReadonlySet<string>): void {
  for (const [index, rule] of configuration.ruleset.rules.entries()) {
    const rules = rulesFor(configuration, rule) as LevelRules;
    const { levels, ids, members } = indexed(rules);
    const able = members.map((group) => group.filter((person) => permitted.has(ids[person]!)));
    const membership: Membership = { people: ids.length, approved: members.map(() => []), able };
    if (bestCombination(levels, membership, true) === null) throw unsatisfiable(index, rules, levels, membership);
  }
}

function unsatisfiable(rule: number, rules: LevelRules, levels: IndexedLevel[], membership: Membership): Problem {
  let level = 0;
  /** The groups of a combination that meets the levels before this one. */
  let before: number[] = [];
  for (; level < levels.length; level += 1) {
    const best = bestCombination(levels.slice(0, level + 1), membership, true);
    if (best === null) break;
    before = best.choice.flatMap((alternative, at) => levels[at]![alternative]!);
  }
  const lacking = levels[level]!.map((groups, index) => {
    const matching = new Matching(membership.people, membership.able);
    for (const group of before) matching.add(group);
    const group = groups.find((each) => !matching.add(each))!;
    return `one_of[${index}] lacks a person of group ${JSON.stringify(rules.groups[group]!.name)}`;
  });
  const cannot = `level ${level + 1} cannot be met by distinct people who may authorise payments`;
  const others = level === 0 ? '' : ' besides those whom the levels before it need';
  return new Problem('ruleset_unsatisfiable', {
    field: `ruleset.rules[${rule}].groups[${level}]`,
    message: `${cannot}${others}: ${lacking.join('; ')}`,
  });
}
