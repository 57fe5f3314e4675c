import { decimal } from '../../../sdk/src/decimal.ts';
import type { ApprovalConfiguration, WrittenApprovalConfiguration } from '../../../sdk/src/generated/api.ts';
import { amountField } from '../../data/amount.ts';

/** A configuration while a person edits it. Thresholds are texts, so that no amount becomes a floating-point number. */
export interface Draft {
  groups: DraftGroup[];
  currency: string;
  rules: DraftRule[];
}

export interface DraftGroup {
  name: string;
  scope: string;
  /** Contact ids. */
  users: string[];
}

export interface DraftRule {
  threshold: string;
  /** Levels, all of which must be met. Each has alternatives; each alternative lists groups, and needs one person from every group. */
  levels: string[][][];
}

const DEFAULT_SCOPE = 'payments';

export const NEW_GROUP: DraftGroup = { name: '', scope: DEFAULT_SCOPE, users: [] };

export function draftOf({ groups, ruleset }: ApprovalConfiguration): Draft {
  return {
    groups: groups.map(({ name, scope, users }) => ({ name, scope, users: users.map(({ id }) => id) })),
    currency: ruleset?.currency ?? 'GBP',
    rules: (ruleset?.rules ?? []).map((rule) => ({
      threshold: decimal(rule, 'minimum_threshold'),
      levels: rule.groups.map(({ one_of }) => one_of.map(({ all_of }) => all_of)),
    })),
  };
}

/** The configuration in the form that the service accepts. */
export function written({ groups, currency, rules }: Draft, samples?: string[]): WrittenApprovalConfiguration {
  return {
    groups: groups.map(({ name, scope, users }) => ({ name, scope, users: users.map((id) => ({ id })) })),
    ruleset: {
      currency,
      // A copy would lose the trailing zeros of a threshold.
      rules: rules.map(({ threshold, levels }) =>
        Object.assign(thresholdField(threshold.trim()), {
          groups: levels.map((alternatives) => ({ one_of: alternatives.map((names) => ({ all_of: names })) })),
        }),
      ),
    },
    ...(samples === undefined || samples.length === 0 ? {} : { sample_amounts: samples }),
  };
}

/** A text that is a JSON number. */
const NUMBER = /^(0|[1-9]\d*)(\.\d+)?$/;

/** A threshold as a number with all its digits. Any other text is sent unchanged, and the service refuses it. */
function thresholdField(threshold: string): { minimum_threshold: number } {
  if (NUMBER.test(threshold)) return amountField('minimum_threshold', threshold);
  return { minimum_threshold: threshold as unknown as number };
}

/** The draft with a group renamed, in the rules as well. */
export function renamed(draft: Draft, index: number, name: string): Draft {
  const before = draft.groups[index]?.name;
  return {
    ...draft,
    groups: replaced(draft.groups, index, { ...(draft.groups[index] as DraftGroup), name }),
    rules: draft.rules.map((rule) => ({
      ...rule,
      levels: rule.levels.map((level) => level.map((names) => names.map((each) => (each === before ? name : each)))),
    })),
  };
}

export function replaced<Item>(list: readonly Item[], index: number, item: Item): Item[] {
  return list.map((each, at) => (at === index ? item : each));
}

export function without<Item>(list: readonly Item[], index: number): Item[] {
  return list.filter((_, at) => at !== index);
}
