import assert from 'node:assert/strict';
import { createWorld } from './client.ts';
import type { TestService } from './service.ts';
import { until } from './until.ts';

/** A client with currency accounts, and functions to book, to request a statement, and to wait for it. */
export async function createStatementWorld(
  service: TestService,
  currencies: string[],
  name = 'Acme Ltd',
  client: object = {},
) {
  const world = await createWorld(service, name, client);
  const token = await world.signIn();
  const accounts = new Map<string, number>();
  for (const currency of currencies) {
    const created = await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency });
    accounts.set(currency, created.body.account_id);
  }
  const list = async (query = '') =>
    (await service.operator('GET', `/statements?client_id=${world.clientId}${query}`)).body as Statement[];
  return {
    ...world,
    token,
    accounts,
    list,
    book: async (currency: string, kind: string, amount: string, fields: object = {}) => {
      const answer = await service.operator('POST', '/transactions', {
        client_id: world.clientId,
        currency_account_id: accounts.get(currency),
        kind,
        amount: { amount, currency },
        ...fields,
      });
      assert.equal(answer.status, 201, answer.text);
      return answer.body;
    },
    ask: (body: unknown, query = `client_id=${world.clientId}`) =>
      service.client(token, 'POST', `/statements/accounts?${query}`, { body }),
    /** Waits until the newest request has one of the states. */
    until: (...states: string[]): Promise<Statement> =>
      until(async () => (await list()).slice(0, 1).find(({ status }) => states.includes(status)), {
        what: states.join(' or '),
        seen: async () => (await list())[0],
      }),
  };
}

export type StatementWorld = Awaited<ReturnType<typeof createStatementWorld>>;

export interface Statement {
  statement_id: string;
  status: string;
  format: string;
  delivery: string;
  currencies: string[];
  request_id: string;
  deliveries: {
    channel: string;
    currency: string | null;
    status: string;
    attempts: number;
    last_error: string | null;
    next_attempt_at: string | null;
    finished_at: string | null;
  }[];
}

export interface KeptMail {
  to: string;
  subject: string;
  text: string;
  html: string;
  message_id: string;
  attachments: { filename: string; content_type: string; content: string }[];
}

/** The mails in the sandbox's mailbox that a request caused. */
export async function mailsOf(service: TestService, statementId: string): Promise<KeptMail[]> {
  const { body } = await service.operator('GET', '/mailbox');
  return (body as KeptMail[]).filter((mail) => mail.message_id.includes(statementId));
}
