import { Counter } from 'prom-client';
import type { Context } from '../context.ts';
import { type Transaction, transaction } from '../database/database.ts';
import type { Drawing } from '../documents/document.ts';
import { keepMail, Mailer, MailFailure, mailWait } from '../mails/mail.ts';
import { metrics } from '../process/metrics.ts';
import { traced } from '../process/tracing.ts';
import { londonTimestamp } from '../values/calendar.ts';
import { messageOf } from '../values/unknown.ts';
import type { AccountStatement } from './account-statement.ts';
import { UnwritableAmount } from './camt.ts';
import { type StatementFile, statementFiles } from './file.ts';
import { keepFile } from './kept-file.ts';
import { readSection } from './ledger.ts';
import { statementMail } from './mail.ts';
import { Pusher, PushFailure } from './push.ts';
import { recordFailure, recordSent, type StatementDelivery, sectionsOf } from './queue.ts';
import { Spool } from './spool.ts';

/** The number of processes in a row that may end while they work on a delivery. Then it counts as failed, because it may be the cause. */
const MAX_DEATHS = 5;
/** Milliseconds between two attempts to record an outcome while the database does not answer. */
const RECORD_RETRY_MS = 500;
/** The most characters that are stored of a failure's reason. */
const MAX_REASON_CHARACTERS = 500;

interface MadeFile {
  file: StatementFile;
  spool: Spool;
}

/** Makes the attempts of deliveries. Each attempt reads the accounts, writes the files, sends them and records the outcome. */
export class DeliveryWork {
  readonly #context: Context;
  readonly #drawing: Drawing;
  readonly #mailer: Mailer | undefined;
  readonly #pusher: Pusher;
  #closing = false;

  constructor(context: Context, drawing: Drawing) {
    this.#context = context;
    this.#drawing = drawing;
    const { config } = context;
    this.#mailer = config.smtpUrl === undefined ? undefined : new Mailer(config.smtpUrl, config);
    this.#pusher = new Pusher(context);
  }

  /** Makes one attempt. Never throws: a failure is recorded, and retried when it is due. @returns when it is due, if it failed */
  async run(delivery: StatementDelivery): Promise<Date | undefined> {
    const { log } = this.#context;
    const about = { statement: delivery.statement_id, client_id: delivery.client_id, channel: delivery.channel };
    const attributes = { 'lombard.statement_id': delivery.statement_id, 'lombard.channel': delivery.channel };
    const started = this.#context.clock.now();
    try {
      if (delivery.deaths >= MAX_DEATHS)
        throw new Error(`the service ended ${delivery.deaths} times in a row while it worked on this`);
      await traced('send a statement', attributes, () => this.#attempt(delivery));
      statementAttemptsTotal.inc({ channel: delivery.channel, outcome: 'sent' });
      log.info({ ...about, attempt: delivery.attempts }, 'a statement was delivered');
      return undefined;
    } catch (error) {
      const now = this.#context.clock.now();
      const reason = messageOf(error).slice(0, MAX_REASON_CHARACTERS);
      // An attempt that the end of the service has interrupted is due at once.
      const wait = this.#closing ? 0 : this.#wait(delivery, error, started);
      const due = wait === undefined ? undefined : new Date(now.getTime() + wait);
      statementAttemptsTotal.inc({ channel: delivery.channel, outcome: due ? 'retrying' : 'failed' });
      log.warn({ ...about, attempt: delivery.attempts, reason, due }, 'a statement could not be delivered');
      await this.#record((tx) => recordFailure(tx, delivery, { reason, shown: shownReason(error), due, now }));
      return due;
    }
  }

  /** Interrupts the attempts in flight. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#mailer?.close();
    await this.#pusher.close();
  }

  /** Milliseconds until the next attempt, or undefined if there is none. */
  #wait(delivery: StatementDelivery, error: unknown, now: Date): number | undefined {
    if (error instanceof PushFailure) return error.wait;
    if (error instanceof UnwritableAmount || (error instanceof MailFailure && error.permanent)) return undefined;
    return mailWait(delivery.round_attempts, now.getTime() - delivery.round_began_at.getTime(), Math.random());
  }

  async #attempt(delivery: StatementDelivery): Promise<void> {
    const { config, clock, backgroundPool } = this.#context;
    const statement = await this.#statement(delivery);
    const made = await this.#make(statement, delivery);
    try {
      if (delivery.channel === 'push') {
        for (const { file, spool } of made) await this.#pusher.push(delivery, file, spool);
        return await this.#sent(delivery);
      }
      if (delivery.channel === 'file') {
        for (const { spool } of made) await keepFile(backgroundPool, delivery, spool, clock);
        return;
      }
      const attachments = made.map(({ file: { filename, contentType }, spool }) => ({
        filename,
        contentType,
        size: spool.size,
        content: () => spool.stream(),
      }));
      const to = { name: delivery.contact_name, address: delivery.email };
      const mail = statementMail(statement, to, attachments, {
        institution: this.#drawing.institution,
        mailFrom: config.mailFrom,
        round: delivery.round,
      });
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

  /** Reads the statement from the transactions. */
  async #statement(delivery: StatementDelivery): Promise<AccountStatement> {
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

  /** Writes every file completely before the first byte of any file is sent. */
  async #make(statement: AccountStatement, delivery: StatementDelivery): Promise<MadeFile[]> {
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

  #sent(delivery: StatementDelivery): Promise<void> {
    const now = this.#context.clock.now();
    return this.#record((tx) => recordSent(tx, delivery, now));
  }

  /**
   * Records an outcome, however long the database does not answer, because an accepted statement must not be sent again. It gives up when
   * the service ends.
   */
  async #record(write: (tx: Transaction) => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await transaction(this.#context.backgroundPool, write);
      } catch (error) {
        this.#context.log.warn(
          { reason: messageOf(error) },
          'the outcome of a statement delivery could not be recorded; it will be tried again',
        );
        if (this.#closing) return;
        await new Promise((resolve) => setTimeout(resolve, RECORD_RETRY_MS));
      }
    }
  }
}

/** The reason that the client sees for a failure. Messages of the mail server or the database may name machines of the institution. */
function shownReason(error: unknown): string {
  if (error instanceof PushFailure || error instanceof UnwritableAmount)
    return error.message.slice(0, MAX_REASON_CHARACTERS);
  if (error instanceof MailFailure) return 'the mail could not be delivered';
  return 'the statement could not be made';
}

/** Attempts to deliver statements, by channel and outcome: `sent`, `retrying` or `failed`. */
const statementAttemptsTotal = new Counter({
  name: 'lombard_statement_attempts_total',
  help: 'Attempts to deliver account statements by channel and outcome',
  labelNames: ['channel', 'outcome'],
  registers: [metrics],
});
