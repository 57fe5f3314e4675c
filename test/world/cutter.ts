import type { Socket } from 'node:net';
import { Wire } from './wire.ts';

/** Where a transaction loses its connection: before one of its statements is sent, or after one of its answers has arrived. */
export type Place = 'statement' | 'answer';

/** Types of PostgreSQL's messages (protocol 3.0, 55.7): those that run a statement, and the one that reports its completion. */
const RUNS = new Set(['E', 'Q']);
const DONE = 'C';
const HEADER_BYTES = 5;

/** Splits a stream into whole messages. The start-up messages of a connection, before `typed`, have no type. */
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

/** A proxy between a service and its database that cuts the connection of one transaction between any two of its statements. */
export class StatementCutter extends Wire {
  #armed: { place: Place; count: number; says: string } | undefined;
  wasCut = false;

  /**
   * @param count how many statements of the transaction still reach the database, including `begin`, or how many answers reach the service
   * @param says a text that one of its statements, or one of their values, contains
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
      // What was sent arrives and is executed, but nobody receives the answers.
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
          // The rest of the same turn shows whether this is the transaction to cut.
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
