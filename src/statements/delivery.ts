import { londonTimestamp } from '../calendar.ts';
import type { Context } from '../context.ts';
import { transaction } from '../database.ts';
import type { Drawing } from '../documents/drawing.ts';
import { keepMail, Mailer, MailFailure } from '../mail.ts';
import type { AccountStatement } from './account-statement.ts';
import { UnwritableAmount } from './camt.ts';
import { type StatementFile, statementFiles } from './file.ts';
import { readSection } from './ledger.ts';
import { statementMail } from './mail.ts';
import { statementAttemptsTotal } from './metrics.ts';
import { Pusher, PushFailure } from './push.ts';
import { type Delivery, recordFailure, recordSent, sectionsOf } from './queue.ts';
import { mailWait } from './schedule.ts';
import { Spool } from './spool.ts';

/** Deaths in a row of the processes that worked on a delivery, after which it waits as after a failure: it may be what kills them. */
const MAX_DEATHS = 5;
/** Milliseconds between two tries to write down what came of an attempt while the database is away. */
const RECORD_AGAIN = 500;
/** Characters of a failure's reason that are kept. */
const MAX_REASON = 500;

interface MadeFile {
  file: StatementFile;
  spool: Spool;
}

/** One attempt of a delivery: reads the accounts, makes the files, sends them, writes down what came of it. */
export class DeliveryWork {
  readonly #context: Context;
  readonly #drawing: Drawing;
  readonly #mailer: Mailer | undefined;
  readonly #pusher: Pusher;
  #closing = false;

  constructor(context: Context, drawing: Drawing) {
    this.#context = context;
    this.#drawing = drawing;
    this.#mailer = context.config.smtpUrl === undefined ? undefined : new Mailer(context.config);
    this.#pusher = new Pusher(context);
  }

  /** Never throws: a failure is written down, and tried again when it is due. */
  async run(delivery: Delivery): Promise<void> {
    const { log } = this.#context;
    const about = { statement: delivery.statement_id, client_id: delivery.client_id, channel: delivery.channel };
    const started = this.#context.clock.now();
    try {
      if (delivery.deaths >= MAX_DEATHS)
        throw new Error(`the service ended ${delivery.deaths} times in a row while it worked on this`);
      await this.#attempt(delivery);
      statementAttemptsTotal.inc({ channel: delivery.channel, outcome: 'sent' });
      log.info({ ...about, attempt: delivery.attempts }, 'a statement was delivered');
    } catch (error) {
      const now = this.#context.clock.now();
      const reason = (error as Error).message.slice(0, MAX_REASON);
      // What the end of the service broke off is due at once.
      const wait = this.#closing ? 0 : this.#wait(delivery, error, started);
      const due = wait === undefined ? undefined : new Date(now.getTime() + wait);
      statementAttemptsTotal.inc({ channel: delivery.channel, outcome: due ? 'retrying' : 'failed' });
      log.warn({ ...about, attempt: delivery.attempts, reason, due }, 'a statement could not be delivered');
      await this.#record(() => recordFailure(this.#context.backgroundPool, delivery, reason, due, now));
    }
  }

  /** Breaks off what is under way. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#mailer?.close();
    await this.#pusher.close();
  }

  /** Milliseconds until the next attempt; undefined: there is none. */
  #wait(delivery: Delivery, error: unknown, now: Date): number | undefined {
    if (error instanceof PushFailure) return error.wait;
    if (error instanceof UnwritableAmount || (error instanceof MailFailure && error.permanent)) return undefined;
    return mailWait(delivery.attempts, now.getTime() - delivery.created_at.getTime(), Math.random());
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const { config, clock, backgroundPool } = this.#context;
    const statement = await this.#statement(delivery);
    const made = await this.#make(statement, delivery);
    try {
      if (delivery.channel === 'push') {
        for (const { file, spool } of made) await this.#pusher.push(delivery, file, spool);
        return await this.#sent(delivery);
      }
      const attachments = made.map(({ file: { filename, contentType }, spool }) => ({
        filename,
        contentType,
        size: spool.size,
        content: () => spool.stream(),
      }));
      const to = { name: delivery.contact_name, address: delivery.email };
      const mail = statementMail(statement, to, this.#drawing.institution, attachments, config.mailFrom);
      if (this.#mailer) {
        await this.#mailer.send(mail);
        return await this.#sent(delivery);
      }
      await transaction(backgroundPool, async (tx) => {
        await keepMail(tx, mail, clock.now());
        await recordSent(tx, delivery, clock.now());
      });
    } finally {
      await Promise.all(made.map(({ spool }) => spool.close()));
    }
  }

  /** What is to be written, read from the books. */
  async #statement(delivery: Delivery): Promise<AccountStatement> {
    const { backgroundPool } = this.#context;
    const { client_id: clientId, date_from: dateFrom, date_to: dateTo } = delivery;
    const client = await backgroundPool.query<AccountStatement['client']>(
      'select client_id, client_name, account_number from clients where client_id = $1',
      [clientId],
    );
    const sections = [];
    for (const each of await sectionsOf(backgroundPool, delivery)) {
      if (delivery.currency !== '' && each.currency !== delivery.currency) continue;
      const { currency, currency_account_id: accountId, last_transaction: last } = each;
      sections.push(await readSection(backgroundPool, { clientId, accountId, currency, last, dateFrom, dateTo }));
    }
    return {
      statement_id: delivery.statement_id,
      client: client.rows[0]!,
      date_from: dateFrom,
      date_to: dateTo,
      created_at: londonTimestamp(delivery.created_at),
      sections,
    };
  }

  /** Every file whole and right before the first byte of one is sent. */
  async #make(statement: AccountStatement, delivery: Delivery): Promise<MadeFile[]> {
    const made: MadeFile[] = [];
    try {
      for (const file of statementFiles(statement, delivery.format, this.#drawing)) {
        made.push({ file, spool: await Spool.of(await file.make(), this.#context.config.dataDir) });
      }
      return made;
    } catch (error) {
      await Promise.all(made.map(({ spool }) => spool.close()));
      throw error;
    }
  }

  #sent(delivery: Delivery): Promise<void> {
    const now = this.#context.clock.now();
    return this.#record(() => recordSent(this.#context.backgroundPool, delivery, now));
  }

  /** Writes it down, however long the database is away: what was accepted must not be sent again. Given up only when the service ends. */
  async #record(write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        this.#context.log.warn(
          { reason: (error as Error).message },
          'what came of a statement could not be written down; it is tried again',
        );
        if (this.#closing) return;
        await new Promise((resolve) => setTimeout(resolve, RECORD_AGAIN));
      }
    }
  }
}
