import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { StartupError } from '../values/errors.ts';
import { codeOf, isOneOf, messageOf } from '../values/unknown.ts';
import { readHosts } from './database-hosts.ts';

export type Environment = Record<string, string | undefined>;

/** An address range in CIDR notation. */
export interface AddressRange {
  address: string;
  prefix: number;
}

/** Milliseconds of each unit of a duration. */
const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A week. No wait between attempts, and no step of the autopilot, may be longer. */
const MAX_DURATION_MS = 7 * 86_400_000;
export const KEY_BYTES = 32;
/** White space that the parser of URLs skips: at the ends, and tabs and line ends anywhere. */
const SKIPPED_SPACE = /^\s|\s$|[\t\r\n]/;
/** Scheme, host with port, and path. The parser of URLs takes more: other slashes, or none, and an empty user, query or fragment. */
const PUBLIC_URL = /^https?:\/\/[^\s/\\?#@]+(\/[^\s\\?#]*)?$/i;

/**
 * Reads environment variables by their kind. An empty variable counts as unset. Each method throws a StartupError of one line that
 * names the variable, what it must be, and what it is; a secret's value never appears.
 */
export class Settings {
  readonly #env: Environment;
  readonly #read = new Set<string>();

  constructor(env: Environment) {
    this.#env = env;
  }

  #given(name: string): string | undefined {
    this.#read.add(name);
    return this.#env[name];
  }

  /** Variables with this program's prefix that nothing has read, because they are misspelt. */
  unknown(): string[] {
    return Object.keys(this.#env).filter((name) => /^LOMBARD_/.test(name) && !this.#read.has(name));
  }

  text(name: string): string | undefined {
    return this.#given(name) || undefined;
  }

  /** A comma-separated list of trimmed items. */
  list(name: string): string[] {
    return items(name, this.#given(name) ?? '');
  }

  oneOf<const T extends string>(name: string, values: readonly T[], otherwise: NoInfer<T>): T {
    const given = this.text(name);
    if (given === undefined) return otherwise;
    if (!isOneOf(values, given)) throw wrong(name, values.join(' or '), given);
    return given;
  }

  /** A list of some of the values; all of them if the variable is unset. */
  someOf<const T extends string>(name: string, values: readonly T[]): ReadonlySet<T> {
    const given = this.list(name);
    const unknown = given.find((item) => !isOneOf(values, item));
    if (unknown !== undefined) throw wrong(name, `a list of ${values.join(', ')}`, unknown);
    return new Set(given.length > 0 ? given.filter((item) => isOneOf(values, item)) : values);
  }

  flag(name: string, otherwise: 'yes' | 'no' = 'no'): boolean {
    return this.oneOf(name, ['yes', 'no'], otherwise) === 'yes';
  }

  integer<Default extends number | undefined>(
    name: string,
    otherwise: Default,
    { min, max }: { min: number; max: number },
  ): number | Default {
    const given = this.text(name);
    if (given === undefined) return otherwise;
    const value = Number(given);
    if (!/^\d+$/.test(given) || value < min || value > max)
      throw wrong(name, `a whole number from ${min} to ${max}`, given);
    return value;
  }

  /** @param rule `takes`: what the text must match; `words`: the same in words, for the refusal */
  matching(
    name: string,
    otherwise: string,
    rule: { takes: RegExp | ((text: string) => boolean); words: string },
  ): string {
    const given = this.text(name);
    if (given === undefined) return otherwise;
    const matches = rule.takes instanceof RegExp ? rule.takes.test(given) : rule.takes(given);
    if (!matches) throw wrong(name, rule.words, given);
    return given;
  }

  host(name: string, otherwise: string): string {
    const takes = (text: string) => isIP(text) !== 0 || /^[A-Za-z0-9.-]+$/.test(text);
    return this.matching(name, otherwise, { takes, words: 'an IP address or a host name' });
  }

  secret(name: string, minCharacters: number): string | undefined {
    const { given, source } = this.#secretText(name);
    if (given !== undefined && (given.length < minCharacters || /\s/.test(given)))
      throw wrong(source, `at least ${minCharacters} characters without white space`);
    return given;
  }

  /** Keys of 32 bytes in base64, separated by commas. */
  keys(name: string): Buffer[] {
    const { given, source } = this.#secretText(name);
    if (given === undefined) return [];
    const keys = given.split(',').flatMap((text) => keyIn(text.trim()) ?? []);
    if (keys.length < given.split(',').length)
      throw wrong(
        source,
        `${KEY_BYTES} bytes in base64, as \`openssl rand -base64 ${KEY_BYTES}\` prints, or several such keys, comma separated`,
      );
    if (new Set(keys.map(String)).size < keys.length) throw wrong(source, 'a list of different keys');
    return keys;
  }

  /**
   * A secret: the value of the variable itself, or the text of the file in `<name>_FILE`, without one trailing newline.
   * @returns `source`: the variable that a refusal names
   */
  #secretText(name: string): { given: string | undefined; source: string } {
    const [given, source] = [this.text(name), `${name}_FILE`];
    const path = this.text(source);
    if (path === undefined) return { given, source: name };
    if (given !== undefined) throw new StartupError(`${name} and ${source}: set only one of them`);
    const text = readSecret(source, path);
    if (text === '') throw wrong(source, 'a file with the secret in it (it is empty)', path);
    return { given: text, source };
  }

  /** @param options `secret`: whether it contains a password */
  url(name: string, protocols: string[], options: { secret: boolean }): string | undefined {
    const { given, source } = options.secret ? this.#secretText(name) : { given: this.text(name), source: name };
    if (given === undefined) return undefined;
    const { protocol = '', hostname = '' } = URL.canParse(given) ? new URL(given) : {};
    const whole = hostname !== '' && given.slice(protocol.length).startsWith('//') && !SKIPPED_SPACE.test(given);
    if (!whole || !protocols.includes(protocol)) {
      const begins = protocols.map((each) => `${each}//`).join(' or ');
      throw wrong(source, `an address that begins with ${begins}, and has a host`, options.secret ? undefined : given);
    }
    return given;
  }

  /** The address of a PostgreSQL database, with one or more hosts. It contains a password. */
  databaseUrl(name: string): string | undefined {
    const { given, source } = this.#secretText(name);
    if (given === undefined) return undefined;
    try {
      readHosts(given);
    } catch (error) {
      throw new StartupError(`${source}: ${messageOf(error)}`, { cause: error });
    }
    return given;
  }

  /** An http or https address, its scheme in lower case, without the slash at its end. */
  publicUrl(name: string): string | undefined {
    const given = this.url(name, ['http:', 'https:'], { secret: false });
    if (given === undefined) return undefined;
    if (!PUBLIC_URL.test(given)) throw wrong(name, 'an http or https address without query, fragment and user', given);
    return given.replace(/^https?/i, (scheme) => scheme.toLowerCase()).replace(/(?<!\/)\/+$/, '');
  }

  /** In milliseconds. */
  duration(name: string, otherwise: string): number {
    return milliseconds(name, this.text(name) ?? otherwise);
  }

  durations(name: string, otherwise: string): number[] {
    return items(name, this.text(name) ?? otherwise).map((item) => milliseconds(name, item));
  }

  /** In milliseconds; `0s` is allowed. */
  durationOrZero(name: string, otherwise: string): number {
    const given = this.text(name) ?? otherwise;
    return /^0(ms|s|m|h|d)$/.test(given) ? 0 : milliseconds(name, given);
  }

  durationOrOff(name: string): number | undefined {
    const given = this.text(name);
    return given === undefined || given === 'off' ? undefined : milliseconds(name, given);
  }

  /** A list of addresses and address ranges. An empty variable means an empty list. */
  ranges(name: string, otherwise: string): AddressRange[] {
    return items(name, this.#given(name) ?? otherwise).map((item) => {
      const [address = '', bits, ...rest] = item.split('/');
      const family = isIP(address);
      const width = family === 6 ? 128 : 32;
      const prefix = bits === undefined ? width : Number(bits);
      if (family === 0 || rest.length > 0 || (bits !== undefined && !/^\d+$/.test(bits)) || prefix > width)
        throw wrong(name, 'a list of address ranges, as 10.0.0.0/8 or ::1', item);
      return { address, prefix };
    });
  }
}

/** The text of a file, without one newline at its end. @throws StartupError */
function readSecret(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw wrong(variable, `a file that can be read (${codeOf(error)})`, path);
  }
}

/**
 * A key in base64, with or without its padding. Buffer skips what is not base64, so what it read is compared with the text. Keys with `-`
 * and `_` were always taken, and may have sealed secrets.
 */
export function keyIn(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64');
  const bare = text.replace(/=$/, '');
  const same = key.toString('base64') === `${bare}=` || key.toString('base64url') === bare;
  return same && key.length === KEY_BYTES ? key : undefined;
}

function items(name: string, text: string): string[] {
  if (text === '') return [];
  const found = text.split(',').map((item) => item.trim());
  if (found.includes('')) throw wrong(name, 'a list without empty items', text);
  return found;
}

function milliseconds(name: string, text: string): number {
  const [, number = 0, unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  const value = Number(number) * (UNIT_MS[unit] ?? 0);
  if (value <= 0 || value > MAX_DURATION_MS)
    throw wrong(name, 'a duration, as 500ms, 5s, 10m or 2h (at most 7d)', text);
  return value;
}

/** @param given the value of `name`; undefined for a secret */
export function needs(name: string, other: string, given?: string): StartupError {
  const is = given === undefined ? '' : ` (it is ${quoted(given)})`;
  return new StartupError(`${name}: needs ${other}, which is not set${is}`);
}

/** @param given its value; undefined for a secret */
export function wrong(name: string, must: string, given?: string): StartupError {
  return new StartupError(`${name}: must be ${must}${given === undefined ? '' : `, not ${quoted(given)}`}`);
}

/** A value in one line. What stands before the host of an address may be a password. */
function quoted(given: string): string {
  const host = given.lastIndexOf('@');
  const colon = given.indexOf(':');
  if (colon < 0 || host < colon) return JSON.stringify(given);
  const [scheme = ''] = /^[^:]*:[\\/]*/.exec(given) ?? [];
  return JSON.stringify(`${scheme}***${given.slice(host)}`);
}
