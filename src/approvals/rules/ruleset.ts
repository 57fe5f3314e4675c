import Big from 'big.js';

/**
 * An approvals configuration: who is in which group, and which groups must approve amounts from which threshold on (service interface,
 * "Approvals workflow configuration"; docs/decisions.md, 4).
 */

/** The most groups of one configuration. */
export const MAX_GROUPS = 50;
/** The most users of one group. */
export const MAX_USERS_PER_GROUP = 100;
/** The most rules (thresholds) of one ruleset. */
export const MAX_RULES = 20;
/** The most levels of one rule. All of them must be met. */
export const MAX_LEVELS = 5;
/** The most alternatives (`one_of`) of one level. Together with the levels it bounds the combinations of a rule: 5^5 = 3,125. */
export const MAX_ALTERNATIVES = 5;
/** The most group names in one `all_of`. Each needs a person of its own. */
export const MAX_NAMES_PER_ALTERNATIVE = 5;
/** The most characters of a group's name. */
export const MAX_GROUP_NAME_LENGTH = 64;
/** The most characters of a group's scope. */
export const MAX_SCOPE_LENGTH = 64;
/** The most characters of a contact identifier, far more than any that the service makes or accepts. */
export const MAX_USER_ID_LENGTH = 128;
/** The most digits after the decimal point of a threshold. */
export const MAX_THRESHOLD_DECIMALS = 8;
/** The scope of a group that does not give one. */
export const DEFAULT_SCOPE = 'payments';

export interface Group {
  name: string;
  scope: string;
  users: { id: string }[];
}

/** One way to meet a level: a distinct person from each named group. A group that is named twice needs two people. */
export interface Alternative {
  all_of: string[];
}

export interface Level {
  one_of: Alternative[];
}

export interface Rule {
  /** Decimal string in the ruleset's currency, not negative. */
  minimum_threshold: string;
  /** The levels. All of them must be met. */
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
 * The rule that applies to an amount: the one with the highest threshold that is not above it (docs/decisions.md, 4).
 * @param amount decimal string, already converted to the ruleset's currency
 * @returns the index into `ruleset.rules` (given in any order); null if no threshold is low enough, so no approval is needed
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
