import Big from 'big.js';

/**
 * An approvals configuration: who is in which group, and which groups must approve from which amount on
 * (the service interface, "Approvals workflow configuration"; docs/decisions.md, 4).
 */

/** Groups of one configuration. */
export const MAX_GROUPS = 50;
/** Users of one group. */
export const MAX_USERS_PER_GROUP = 100;
/** Rules (thresholds) of one ruleset. */
export const MAX_RULES = 20;
/** Levels of one rule, all of which must be met. */
export const MAX_LEVELS = 5;
/** Alternatives (`one_of`) of one level. With the levels it bounds the combinations of a rule: 5^5 = 3,125. */
export const MAX_ALTERNATIVES = 5;
/** Group names in one `all_of`, each of which needs a person of its own. */
export const MAX_NAMES_PER_ALTERNATIVE = 5;
/** Characters of a group's name. */
export const MAX_GROUP_NAME_LENGTH = 64;
/** Characters of a group's scope. */
export const MAX_SCOPE_LENGTH = 64;
/** Characters of a contact identifier, far above any that the service makes or accepts. */
export const MAX_USER_ID_LENGTH = 128;
/** Digits after the decimal point of a threshold. */
export const MAX_THRESHOLD_DECIMALS = 8;
/** The scope of a group that names none. */
export const DEFAULT_SCOPE = 'payments';

export interface Group {
  name: string;
  scope: string;
  users: { id: string }[];
}

/** One way to meet a level: a distinct person from each group named; a name twice needs two persons. */
export interface Alternative {
  all_of: string[];
}

export interface Level {
  one_of: Alternative[];
}

export interface Rule {
  /** Decimal string in the ruleset's currency, not negative. */
  minimum_threshold: string;
  /** The levels: every one must be met. */
  groups: Level[];
}

export interface Ruleset {
  /** ISO 4217 code that amounts are converted to. */
  currency: string;
  rules: Rule[];
}

export interface Configuration {
  groups: Group[];
  ruleset: Ruleset;
}

/**
 * The rule that governs an amount: the one with the highest threshold that is not above it (docs/decisions.md, 4).
 * @param amount decimal string, already converted to the ruleset's currency
 * @returns the index into `ruleset.rules` (given in any order), or null: no rule that low, no approval is needed
 */
export function governingRule(ruleset: Ruleset, amount: string): number | null {
  const value = new Big(amount);
  let found: { index: number; threshold: Big } | null = null;
  for (const [index, each] of ruleset.rules.entries()) {
    const threshold = new Big(each.minimum_threshold);
    if (threshold.lte(value) && (found === null || threshold.gt(found.threshold))) found = { index, threshold };
  }
  return found === null ? null : found.index;
}
