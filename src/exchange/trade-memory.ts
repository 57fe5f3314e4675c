import type { RecordMemory, RecordText } from '../audit/change.ts';
import { BoundedMap } from '../values/bounded-map.ts';

/** The most trades that an import remembers: 8 MB at their usual length. */
const MAX_TRADES = 5_000;
/** A longer record is read each time. This length has room for fewer beneficiaries than a trade shows. */
const MAX_RECORD_CHARACTERS = 4_096;
/** Marks the start of the field. Quotes within a text are escaped, so it matches nothing else. */
const LIST = '"beneficiaries":[';

/**
 * Remembers the trades that an import has changed, in the form that the feed showed. Each batch of payments adds beneficiaries to the same
 * trades. Reading a trade again costs several times as much as adding them to its text. The version shows whether a trade is unchanged:
 * every change raises the version, and whoever has raised it holds it until the commit.
 */
export class TradeMemory implements RecordMemory {
  readonly #trades = new BoundedMap<string, { version: number; text: string }>(MAX_TRADES);
  /** The beneficiaries that the transaction has added to each trade. */
  readonly #joined = new Map<string, string[]>();

  /** Adds a beneficiary that the transaction has stored. */
  join(tradeId: string, beneficiaryId: string): void {
    const joined = this.#joined.get(tradeId);
    if (joined) joined.push(beneficiaryId);
    else this.#joined.set(tradeId, [beneficiaryId]);
  }

  find(id: string, version: number): RecordText | undefined {
    const joined = this.#joined.get(id) ?? [];
    this.#joined.delete(id);
    const trade = this.#trades.get(id);
    if (trade?.version !== version - 1) return undefined;
    const text = joined.reduce(withBeneficiary, trade.text);
    this.keep(id, version, { text });
    return { text };
  }

  keep(id: string, version: number, { text }: RecordText): void {
    this.#joined.delete(id);
    if (text.length <= MAX_RECORD_CHARACTERS) this.#trades.set(id, { version, text });
    else this.#trades.delete(id);
  }

  /** Forgets everything, for example after a transaction that was rolled back. Its versions will be given out again. */
  clear(): void {
    this.#trades.clear();
    this.#joined.clear();
  }
}

/** Inserts a beneficiary into the text of a trade, at its place in the order of the database, which is by bytes. Identifiers are ASCII. */
function withBeneficiary(trade: string, id: string): string {
  const start = trade.indexOf(LIST) + LIST.length;
  let place = start;
  while (trade[place] === '"' && !follows(trade, place + 1, id)) {
    const end = trade.indexOf('"', place + 1) + 1;
    if (trade[end] !== ',') return `${trade.slice(0, end)},"${id}"${trade.slice(end)}`;
    place = end + 1;
  }
  const separator = trade[start] === '"' ? ',' : '';
  return `${trade.slice(0, place)}"${id}"${separator}${trade.slice(place)}`;
}

/** Whether the quoted identifier that begins at a place sorts after another one. No character of an identifier sorts below a quote. */
function follows(text: string, place: number, id: string): boolean {
  for (let index = 0; index < id.length; index += 1) {
    const difference = text.charCodeAt(place + index) - id.charCodeAt(index);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
