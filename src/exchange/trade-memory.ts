import type { RecordMemory, RecordText } from '../audit/change.ts';
import { BoundedMap } from '../values/bounded-map.ts';

/** Trades that an import remembers: 8 MB of those of usual length. */
const MAX_TRADES = 5_000;
/** A longer record is read each time. It has room for fewer beneficiaries than a trade shows. */
const MAX_RECORD_CHARACTERS = 4_096;
/** Quotes within a text are escaped, so that this is the field. */
const LIST = '"beneficiaries":[';

/**
 * The trades that an import has changed, as the feed showed them. Each batch of payments brings further beneficiaries to the same trades.
 * Reading a trade for that costs several times as much as adding them to its text. The version tells whether the trade is still as it
 * was: nobody changes it without raising the version, and whoever has raised it holds it until the commit.
 */
export class TradeMemory implements RecordMemory {
  readonly #trades = new BoundedMap<string, { version: number; text: string }>(MAX_TRADES);
  /** What the transaction has added to each trade. */
  readonly #joined = new Map<string, string[]>();

  /** Takes note of a further beneficiary, which the transaction has stored. */
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

  /** Forgets everything, as after a transaction that was rolled back: its versions will be given again. */
  clear(): void {
    this.#trades.clear();
    this.#joined.clear();
  }
}

/** A trade with a further beneficiary, in the place that it has in the order of the database: that of the bytes. Identifiers are ASCII. */
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

/** Whether the identifier that begins at a place, and ends with a quote, comes after another one. No character of one is below a quote. */
function follows(text: string, place: number, id: string): boolean {
  for (let index = 0; index < id.length; index += 1) {
    const difference = text.charCodeAt(place + index) - id.charCodeAt(index);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
