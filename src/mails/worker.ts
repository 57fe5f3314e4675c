import type { Context } from '../context.ts';
import { inTurn, restAmong } from '../database/cells/activity.ts';
import { contextOf, createRounds } from '../database/cells/contexts.ts';
import { connect, first, type Pool, type Transaction, transaction, urlOf } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import { createPool } from '../database/pools.ts';
import { gatherRequests } from '../identity/sign-in/password-link.ts';
import { endsWithin } from '../process/deadline.ts';
import { Periodic } from '../process/periodic.ts';
import type { Institution } from '../settings/institution.ts';
import { printable } from '../values/text.ts';
import { messageOf } from '../values/unknown.ts';
import { keepMail, type Mail, Mailer, MailFailure, mailWait, messageIdOf } from './mail.ts';
import { type DueMail, gatherNotices, recordOutcome, takeDue, type WrittenMail } from './outbox.ts';
import { writeMail } from './writers.ts';

const POLL_INTERVAL_MS = 500;
/** Milliseconds between two checks of a cell, if there are several and somebody there waits for the next mail. */
const WAITING_INTERVAL_MS = 5_000;
/** The most mails in flight at once. They share the mail server with statements. */
const MAX_IN_FLIGHT = 4;
/** Milliseconds that mails in flight get to end when the service stops. */
const STOP_LIMIT_MS = 8_500;
/** Milliseconds between two attempts to record an outcome while the database does not answer. */
const RECORD_RETRY_MS = 500;

/**
 * Sends mails to contacts in the background. One process does this; it holds an advisory lock on its own connection. When that process
 * ends, for whatever reason, another one goes on. A mail is sent again, with the same Message-ID, only if nobody knows whether it was
 * accepted.
 */
export class MailWorker {
  readonly #context: Context;
  readonly #cells: readonly Context[];
  readonly #inEach: ReturnType<typeof createRounds<Context>>;
  readonly #pool: Pool;
  readonly #institution: Institution;
  readonly #mailer: Mailer | undefined;
  readonly #polling: Periodic;
  readonly #inFlight = new Map<string, Promise<void>>();
  #lock: Transaction | undefined;
  #stopping = false;

  /**
   * @param institution whose letterhead the mails have
   * @param cells the context of each cell
   */
  constructor(context: Context, institution: Institution, cells: readonly Context[]) {
    this.#institution = institution;
    this.#context = context;
    this.#cells = cells;
    this.#inEach = createRounds(cells);
    const { backgroundPool, log, config } = context;
    this.#pool = createPool(urlOf(backgroundPool), log, { max: 1, background: true, name: 'lombard-mails' });
    this.#mailer = config.smtpUrl === undefined ? undefined : new Mailer(config.smtpUrl, config);
    this.#polling = new Periodic({ name: 'mails', intervalMs: POLL_INTERVAL_MS, log, run: () => this.#beginDue() });
  }

  start(): void {
    this.#polling.start();
  }

  /** Begins nothing new, and lets mails in flight run for up to 8.5 s. Another process sends the rest. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#polling.stop();
    await endsWithin(Promise.all(this.#inFlight.values()), STOP_LIMIT_MS);
    this.#mailer?.close();
    this.#lock?.release(true);
    this.#lock = undefined;
    await this.#pool.end();
  }

  async #beginDue(): Promise<void> {
    if (!(await this.#holdsLock())) return;
    const { backgroundPool, clock, config } = this.#context;
    // A cell that fails does not stop the mails of the others.
    const gather = async ({ backgroundPool: pool, rhythm }: Context) => {
      const waits = await transaction(pool, (tx) => gatherNotices(tx, clock.now(), config.approvalMails));
      if (waits) rhythm?.againFor(this, WAITING_INTERVAL_MS);
    };
    const failure = await this.#inEach(this.#cells, inTurn(this, gather, restAmong(this.#cells.length))).catch(
      (error: Error) => error,
    );
    await transaction(backgroundPool, gatherRequests);
    await this.#sendDue();
    if (failure) throw failure;
  }

  async #sendDue(): Promise<void> {
    const { backgroundPool, clock } = this.#context;
    const free = MAX_IN_FLIGHT - this.#inFlight.size;
    if (free <= 0 || this.#stopping) return;
    for (const mail of await takeDue(backgroundPool, clock.now(), { busy: [...this.#inFlight.keys()], limit: free })) {
      const done = this.#send(mail).finally(() => {
        this.#inFlight.delete(mail.contact_id);
        if (!this.#stopping) this.#polling.wake();
      });
      this.#inFlight.set(mail.contact_id, done);
    }
  }

  /** Whether this process is the one that sends. */
  async #holdsLock(): Promise<boolean> {
    if (this.#lock) return true;
    const connection = await connect(this.#pool);
    let broken = false;
    const onError = () => {
      broken = true;
      if (this.#lock !== connection) return;
      this.#lock = undefined;
      connection.release(true);
    };
    connection.on('error', onError);
    const held = await connection
      .query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [LOCKS.mails])
      .then((result) => first(result)?.held ?? false)
      .catch((error: Error) => {
        connection.release(true);
        throw error;
      });
    if (!held || broken) {
      connection.off('error', onError);
      connection.release(broken);
      return false;
    }
    this.#lock = connection;
    return true;
  }

  /** Makes one attempt. Never throws: a failure is recorded, and retried when it is due. */
  async #send(mail: DueMail): Promise<void> {
    const { log, clock, backgroundPool, config } = this.#context;
    const about = { mail: mail.id, kind: mail.kind, contact: mail.contact_id, attempt: mail.attempts };
    try {
      const written = await this.#write(mail);
      if (!written) return await this.#record(mail, { state: 'dropped', now: clock.now() });
      const message: Mail = {
        messageId: messageIdOf(`${mail.kind}-${mail.id}-${mail.created_at.getTime()}`, config.mailFrom),
        to: { name: printable(mail.name), address: mail.email },
        ...written,
        attachments: [],
      };
      if (this.#mailer) await this.#mailer.send(message);
      else await keepMail(backgroundPool, message, clock.now());
      await this.#record(mail, { state: 'sent', now: clock.now() });
      log.info(about, 'a mail was sent');
    } catch (error) {
      const now = clock.now();
      const reason = messageOf(error);
      const permanent = error instanceof MailFailure && error.permanent;
      // An attempt that the end of the service has interrupted is due at once.
      const wait = this.#stopping
        ? 0
        : mailWait(mail.attempts, now.getTime() - mail.created_at.getTime(), Math.random());
      const due = permanent || wait === undefined ? undefined : new Date(now.getTime() + wait);
      log.warn({ ...about, reason, due }, 'a mail could not be sent');
      await this.#record(mail, { state: due ? 'due' : 'failed', reason, ...(due ? { due } : {}), now });
    }
  }

  /** Writes a mail in the cell of the records that it is about, which belong to one of its reader's clients. */
  async #write(mail: DueMail): Promise<WrittenMail | undefined> {
    for (const cell of await this.#cellsOf(mail)) {
      const written = await writeMail(cell, mail, this.#institution);
      if (written) return written;
    }
    return undefined;
  }

  async #cellsOf({ contact_id: contactId, client_id: clientId }: DueMail): Promise<Context[]> {
    if (this.#cells.length === 1) return [this.#context];
    const { rows } = await this.#context.backgroundPool.query<{ cell: number }>(
      `select distinct c.cell from clients c left join contact_clients m on m.client_id = c.client_id and m.contact_id = $1
       where c.client_id = $2 or ($2 is null and m.contact_id is not null)`,
      [contactId, clientId],
    );
    return rows.length > 0 ? rows.map(({ cell }) => contextOf(this.#context, cell)) : [this.#context];
  }

  /** Records an outcome, however long the database does not answer, because an accepted mail must not be sent again. */
  async #record(mail: DueMail, outcome: Parameters<typeof recordOutcome>[2]): Promise<void> {
    for (;;) {
      try {
        return await recordOutcome(this.#context.backgroundPool, mail.id, outcome);
      } catch (error) {
        const reason = messageOf(error);
        this.#context.log.warn(
          { mail: mail.id, reason },
          'the outcome of a mail could not be recorded; it will be tried again',
        );
        if (this.#stopping) return;
        await new Promise((resolve) => setTimeout(resolve, RECORD_RETRY_MS));
      }
    }
  }
}
