/**
 * The statements that a program sends, as it sends them: those of one group go out before an answer to any of them is there. A bare driver
 * can then send the same.
 */
import { deserialize, serialize } from 'node:v8';
import pg from 'pg';

/** A statement. */
export interface Sent {
  text: string;
  name?: string | undefined;
  values: unknown[];
  /** `commit` is sent with it, without a sync between the two. */
  commits: boolean;
  /** It is sent when everything before it is answered. */
  leads: boolean;
}

type Given = string | { text: string; name?: string; values?: unknown[] };

const recorded = new Map<pg.Client, Sent[]>();
const waiting = new WeakMap<pg.Client, number>();
let records = false;

/** Notes from now on what each connection of this process sends. */
export function recordStatements(): void {
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function record(this: pg.Client, ...given: never[]) {
    const before = waiting.get(this) ?? 0;
    if (records) note(this, given as unknown[], before === 0);
    waiting.set(this, before + 1);
    const answered = () => waiting.set(this, (waiting.get(this) ?? 1) - 1);
    const callback = given.at(-1) as unknown;
    if (typeof callback === 'function') {
      const told = (...said: unknown[]) => {
        answered();
        callback(...said);
      };
      return Reflect.apply(query, this, [...given.slice(0, -1), told]);
    }
    const result: Promise<unknown> = Reflect.apply(query, this, given);
    result.then(answered, answered);
    return result;
  } as never;
}

function note(client: pg.Client, [statement, values]: unknown[], leads: boolean): void {
  const given = statement as Given;
  const sent =
    typeof given === 'string'
      ? { text: given, values: Array.isArray(values) ? values : [] }
      : { text: given.text, name: given.name, values: given.values ?? (Array.isArray(values) ? values : []) };
  const all = recorded.get(client) ?? [];
  all.push({ ...sent, commits: given instanceof pg.Query, leads });
  recorded.set(client, all);
}

/** Begins, or ends. @returns of an end: the transactions that were sent meanwhile, as a text */
export function switchRecording(on: boolean): string {
  records = on;
  const lists = [...recorded.values()].filter(([first]) => first?.text.startsWith('begin'));
  recorded.clear();
  return serialize(lists).toString('base64');
}

/** The transactions that a recording has. */
export const transactionsOf = (recording: string): Sent[][] => deserialize(Buffer.from(recording, 'base64'));

/** What stands in the place of texts of a recording. */
type Instead = ReadonlyMap<string, string>;

/** Sends a transaction again by the bare driver, in the same groups. */
export async function sendAgain(client: pg.Client, transaction: readonly Sent[], instead: Instead): Promise<void> {
  const group: Promise<unknown>[] = [];
  for (const { text, name, values, commits, leads } of transaction) {
    if (leads) await Promise.all(group.splice(0));
    const query = {
      text,
      values: values.map((value) => replaced(value, instead)),
      ...(name === undefined ? {} : { name }),
    };
    group.push(client.query(query));
    if (commits) group.push(client.query('commit'));
  }
  await Promise.all(group);
}

function replaced(value: unknown, instead: Instead): unknown {
  if (typeof value === 'string') {
    let text = value;
    for (const [from, to] of instead) text = text.replaceAll(from, to);
    return text;
  }
  return Array.isArray(value) ? value.map((each) => replaced(each, instead)) : value;
}
