import type { ApprovalConfiguration } from '../../../sdk/src/generated/api.ts';
import { draftOf } from './draft.ts';

/** One thing that a version changed, with the values for its message. */
export interface Difference {
  kind:
    | 'groupAdded'
    | 'groupRemoved'
    | 'personAdded'
    | 'personRemoved'
    | 'ruleAdded'
    | 'ruleRemoved'
    | 'ruleChanged'
    | 'currency';
  values: Record<string, string>;
}

/** What a version changed compared with the one before. Without one before, everything is new. */
export function differences(before: ApprovalConfiguration | undefined, after: ApprovalConfiguration): Difference[] {
  const found: Difference[] = [];
  const was = new Map(before?.groups.map((group) => [group.name, group]));
  const is = new Map(after.groups.map((group) => [group.name, group]));
  for (const [name, { users }] of is) {
    const former = was.get(name);
    if (!former) found.push({ kind: 'groupAdded', values: { group: name, people: namesOf(users) } });
    else {
      for (const person of missing(users, former.users))
        found.push({ kind: 'personAdded', values: { group: name, person } });
      for (const person of missing(former.users, users))
        found.push({ kind: 'personRemoved', values: { group: name, person } });
    }
  }
  for (const name of was.keys()) if (!is.has(name)) found.push({ kind: 'groupRemoved', values: { group: name } });
  return [...found, ...ruleDifferences(before, after)];
}

function ruleDifferences(before: ApprovalConfiguration | undefined, after: ApprovalConfiguration): Difference[] {
  const found: Difference[] = [];
  const [was, is] = [before && draftOf(before), draftOf(after)];
  const { currency } = is;
  if (was && before?.ruleset && was.currency !== currency)
    found.push({ kind: 'currency', values: { before: was.currency, after: currency } });
  const former = new Map(was?.rules.map(({ threshold, levels }) => [threshold, JSON.stringify(levels)]));
  for (const { threshold: amount, levels } of is.rules) {
    const text = former.get(amount);
    if (text === undefined) found.push({ kind: 'ruleAdded', values: { amount, currency } });
    else if (text !== JSON.stringify(levels)) found.push({ kind: 'ruleChanged', values: { amount, currency } });
    former.delete(amount);
  }
  for (const amount of former.keys())
    found.push({ kind: 'ruleRemoved', values: { amount, currency: was?.currency ?? currency } });
  return found;
}

type User = ApprovalConfiguration['groups'][number]['users'][number];

function missing(some: User[], others: User[]): string[] {
  return some.filter(({ id }) => !others.some((other) => other.id === id)).map(({ name }) => name);
}

function namesOf(users: User[]): string {
  return users.map(({ name }) => name).join(', ');
}
