import { createWorld } from './client.ts';
import { call, type TestService } from './service.ts';
import { until } from './until.ts';

/** The answers that each caller must get between two checks of the progress. */
const MIN_ANSWERS = 5;

export interface Load {
  answered: number;
  /** Calls that were not answered as expected: the call, and its answer. */
  refused: string[];
  /** Sends new calls to another process from now on. */
  turnTo(service: TestService): void;
  /** Waits until every caller has had some more answers. */
  progress(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Callers that work like the programs of a client and an institution, one call after another. They create, validate and search payments,
 * and book on accounts.
 */
export async function startLoad(service: TestService, { callers }: { callers: number }): Promise<Load> {
  const world = await createWorld(service);
  const token = await world.signIn();
  const opened = await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'EUR' });
  let target = service;
  let running = true;
  const counts = Array.from({ length: callers }, () => 0);
  const load: Load = {
    answered: 0,
    refused: [],
    turnTo: (next) => {
      target = next;
    },
    progress: async () => {
      const goals = counts.map((count) => count + MIN_ANSWERS);
      await until(() => counts.every((count, n) => count >= (goals[n] as number)), { seconds: 60 });
    },
    stop: async () => {
      running = false;
      await Promise.all(loops);
    },
  };
  const operator = (method: string, path: string, body?: object) =>
    call(`${target.operatorUrl}${path}`, method, { body, token: service.operatorToken });
  const search = (query: string) =>
    call(`${target.api}/payments?client_id=${world.clientId}${query}`, 'GET', { token });
  const booking = { kind: 'CREDIT_TRANSACTION', amount: { amount: '1.00', currency: 'EUR' } };
  const ask = async () => {
    const made = await operator('POST', '/payments', world.base);
    return [
      made,
      await search('&status=pending'),
      await operator('POST', `/payments/${made.body?.payment_id}/actions`, { action: 'validate' }),
      await operator('POST', '/transactions', {
        ...booking,
        ...{ client_id: world.clientId, currency_account_id: opened.body.account_id },
      }),
      await search('&page_size=50'),
    ];
  };
  const loops = counts.map(async (_, caller) => {
    while (running) {
      const answers = await ask().catch((error: Error) => [{ status: 0, text: `${error.message} ${error.cause}` }]);
      for (const { status, text } of answers) if (status < 200 || status > 299) load.refused.push(`${status} ${text}`);
      load.answered += answers.length;
      counts[caller] = (counts[caller] as number) + answers.length;
    }
  });
  return load;
}
