import type { Socket } from 'node:net';
import { Wire } from './wire.ts';

/** Where a transaction loses its connection: before a statement of it is sent, or after one of its answers has come. */
export type Place = 'statement' | 'answer';

/** Types of PostgreSQL's messages (protocol 3.0, 55.7): those that run a statement, and the one that tells that it was done. */
const RUNS = new Set(['E', 'Q']);
const DONE = 'C';
const HEADER_BYTES = 5;

/** Parts a stream into whole messages. Before `typed` a connection says messages without a type: its start. */
function* messagesOf(stream: { rest: Buffer }, typed: boolean): Generator<Buffer> {
  const start = typed ? 1 : 0;
  while (stream.rest.length >= start + 4) {
    const end = start + stream.rest.readInt32BE(start);
    if (stream.rest.length < end) return;
    yield stream.rest.subarray(0, end);
    stream.rest = stream.rest.subarray(end);
    if (!typed) return;
  }
}

const typeOf = (message: Buffer) => String.fromCharCode(message[0] ?? 0);

/** Stands between a service and its database, and cuts the connection of one transaction between any two of its statements. */
export class StatementCutter extends Wire {
  #armed: { place: Place; count: number; says: string } | undefined;
  wasCut = false;

  /**
   * @param count how many statements of the transaction still reach the database, `begin` included, or how many answers the service
   * @param says what one of its statements, or a value of one, contains
   */
  arm(place: Place, count: number, says: string): void {
    this.#armed = { place, count, says };
    this.wasCut = false;
  }

  disarm(): void {
    this.#armed = undefined;
  }

  protected carry(near: Socket, far: Socket): void {
    const sent = { rest: Buffer.alloc(0) };
    const told = { rest: Buffer.alloc(0) };
    let isStarted = false;
    let said = '';
    let statements = 0;
    let answers = 0;
    const isMeant = (place: Place) => this.#armed?.place === place && said.includes(this.#armed.says);
    const cut = () => {
      this.#armed = undefined;
      this.wasCut = true;
      near.destroy();
      // What was sent arrives, and is worked on; nobody hears the answers.
      far.end();
    };
    near.on('data', (data) => {
      if (this.wasCut && near.destroyed) return;
      sent.rest = Buffer.concat([sent.rest, data]);
      if (!isStarted) {
        for (const message of messagesOf(sent, false)) far.write(message);
        isStarted = sent.rest.length === 0;
        return;
      }
      for (const message of messagesOf(sent, true)) {
        const text = message.toString('latin1', HEADER_BYTES);
        if (text.includes('begin\0')) [said, statements, answers] = ['', 0, 0];
        said += text;
        if (RUNS.has(typeOf(message))) {
          // What follows in the same turn tells whether it is the transaction that is meant.
          const ahead = said + sent.rest.toString('latin1');
          const { count, place, says } = this.#armed ?? { count: 0, place: 'answer', says: '' };
          if (place === 'statement' && statements >= count && ahead.includes(says)) return cut();
          statements += 1;
        }
        far.write(message);
      }
    });
    far.on('data', (data) => {
      told.rest = Buffer.concat([told.rest, data]);
      for (const message of messagesOf(told, true)) {
        if (typeOf(message) === DONE) {
          if (isMeant('answer') && answers >= (this.#armed?.count ?? 0)) return cut();
          answers += 1;
        }
        if (!near.destroyed) near.write(message);
      }
    });
  }
}
