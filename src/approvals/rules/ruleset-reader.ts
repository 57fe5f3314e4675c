import Big from 'big.js';
import { A_CURRENCY, isCurrency } from '../../values/currencies.ts';
import { Problem } from '../../values/errors.ts';
import { decimal } from '../../values/money.ts';
import {
  type Configuration,
  DEFAULT_SCOPE,
  type Group,
  MAX_ALTERNATIVES,
  MAX_GROUP_NAME_LENGTH,
  MAX_GROUPS,
  MAX_LEVELS,
  MAX_NAMES_PER_ALTERNATIVE,
  MAX_RULES,
  MAX_SCOPE_LENGTH,
  MAX_THRESHOLD_DECIMALS,
  MAX_USER_ID_LENGTH,
  MAX_USERS_PER_GROUP,
  type Rule,
} from './ruleset.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused; PostgreSQL cannot store U+0000
const CONTROL = /[\u0000-\u001f\u007f]/;

function refuse(path: string, must: string): never {
  throw new Problem('invalid_body', { field: path, message: must });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function object(value: unknown, path: string): Record<string, unknown> {
  return isObject(value) ? value : refuse(path, 'must be an object');
}

function list(value: unknown, path: string, { least, most }: { least: 0 | 1; most: number }): unknown[] {
  if (!Array.isArray(value)) refuse(path, 'must be a list');
  if (value.length < least) refuse(path, 'must not be empty');
  if (value.length > most) refuse(path, `must have at most ${most} items, has ${value.length}`);
  return value;
}

function text(value: unknown, path: string, most: number): string {
  if (typeof value !== 'string') refuse(path, 'must be a text');
  if (value.trim() === '' || [...value].length > most) refuse(path, `must be a text of 1 to ${most} characters`);
  if (CONTROL.test(value) || !value.isWellFormed())
    refuse(path, 'must not contain control characters or broken Unicode');
  return value;
}

function group(value: unknown, path: string): Group {
  const input = object(value, path);
  const seen = new Map<string, number>();
  return {
    name: text(input.name, `${path}.name`, MAX_GROUP_NAME_LENGTH),
    scope: input.scope === undefined ? DEFAULT_SCOPE : text(input.scope, `${path}.scope`, MAX_SCOPE_LENGTH),
    users: list(input.users, `${path}.users`, { least: 0, most: MAX_USERS_PER_GROUP }).map((user, index) => {
      const at = `${path}.users[${index}]`;
      const id = text(object(user, at).id, `${at}.id`, MAX_USER_ID_LENGTH);
      const first = seen.get(id);
      if (first !== undefined) refuse(`${at}.id`, `must be unique in its group, is also users[${first}]`);
      seen.set(id, index);
      return { id };
    }),
  };
}

function rule(value: unknown, path: string, names: ReadonlySet<string>): Rule {
  const input = object(value, path);
  const threshold = decimal(input.minimum_threshold, `${path}.minimum_threshold`, { decimals: MAX_THRESHOLD_DECIMALS });
  return {
    // Zero may have a sign.
    minimum_threshold: threshold.replace('-', ''),
    groups: list(input.groups, `${path}.groups`, { least: 1, most: MAX_LEVELS }).map((level, levelIndex) => {
      const levelPath = `${path}.groups[${levelIndex}]`;
      const alternatives = list(object(level, levelPath).one_of, `${levelPath}.one_of`, {
        least: 1,
        most: MAX_ALTERNATIVES,
      });
      return {
        one_of: alternatives.map((alternative, index) => {
          const allOfPath = `${levelPath}.one_of[${index}].all_of`;
          const allOf = object(alternative, `${levelPath}.one_of[${index}]`).all_of;
          return {
            all_of: list(allOf, allOfPath, { least: 1, most: MAX_NAMES_PER_ALTERNATIVE }).map((name, position) => {
              const at = `${allOfPath}[${position}]`;
              if (typeof name !== 'string') refuse(at, 'must be a text');
              if (!names.has(name)) refuse(at, 'must be the name of a group of this configuration');
              return name;
            }),
          };
        }),
      };
    }),
  };
}

/**
 * Reads a configuration from a request body and checks everything that does not need the database. An empty list of rules is accepted: then
 * no payment needs an approval. Users' names and emails are not read; the service stores those that it knows.
 * @param body the parsed JSON; `minimum_threshold` is a number or, so that no digit is lost, its source text
 * @returns the configuration in the given order; groups without a scope get the default one
 * @throws Problem invalid_body, which names the path to the element (`ruleset.rules[1].groups[0].one_of[2].all_of[0]`)
 */
export function validateConfiguration(body: unknown): Configuration {
  if (!isObject(body)) throw new Problem('invalid_body', 'body: must be an object');
  const input = body;
  const groups = list(input.groups, 'groups', { least: 0, most: MAX_GROUPS }).map((each, i) =>
    group(each, `groups[${i}]`),
  );
  const names = new Map<string, number>();
  groups.forEach(({ name }, index) => {
    const first = names.get(name);
    if (first !== undefined) refuse(`groups[${index}].name`, `must be unique, is also groups[${first}]`);
    names.set(name, index);
  });
  const ruleset = object(input.ruleset, 'ruleset');
  const currency = ruleset.currency;
  if (typeof currency !== 'string' || !isCurrency(currency)) refuse('ruleset.currency', A_CURRENCY);
  const known = new Set(names.keys());
  const rules = list(ruleset.rules, 'ruleset.rules', { least: 0, most: MAX_RULES }).map((each, i) =>
    rule(each, `ruleset.rules[${i}]`, known),
  );
  const thresholds = new Map<string, number>();
  rules.forEach(({ minimum_threshold }, index) => {
    const value = new Big(minimum_threshold).toFixed();
    const first = thresholds.get(value);
    if (first !== undefined) {
      refuse(`ruleset.rules[${index}].minimum_threshold`, `must be unique, is also that of rules[${first}]`);
    }
    thresholds.set(value, index);
  });
  return { groups, ruleset: { currency, rules } };
}

/**
 * Checks that every user is a contact of the client (docs/decisions.md, 4).
 * @param contacts identifiers of the client's contacts, with any permissions
 * @throws Problem invalid_body, which names the path to the first user who is not
 */
export function checkUsers(configuration: Configuration, contacts: ReadonlySet<string>): void {
  configuration.groups.forEach(({ users }, groupIndex) => {
    users.forEach(({ id }, index) => {
      if (!contacts.has(id)) refuse(`groups[${groupIndex}].users[${index}].id`, 'must be a contact of the client');
    });
  });
}
