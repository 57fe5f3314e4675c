/** A service with a client that orders: funded accounts, a payee, prices, and a contact with all permissions. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../src/database/migrate.ts';
import { startEmbedded } from '../../src/embedded/postgres.ts';
import { accessToken } from '../../test/world/access-token.ts';
import type { TestService } from '../../test/world/service.ts';
import { processorSeconds } from '../feed/processor-time.ts';
import { serverClock, startFedService, TOKEN } from '../feed/service.ts';
import { log } from '../payments-data.ts';
import type { Clocks } from './lanes.ts';

export const CLIENT = 'BENCH';
const FUNDS = '1000000000000.00';
const TOKEN_SECONDS = 7_200;
const PERMISSIONS = [
  ...['can_create_payments', 'can_manage_multipayments', 'can_manage_beneficiaries', 'can_trade'],
  'can_authorise_payments',
];

/** The answer of a call. */
// biome-ignore lint/suspicious/noExplicitAny: answers of the bench's own service
type Call = (method: string, path: string, body?: object) => Promise<any>;

export interface Ordering {
  url: string;
  /** The service's process. */
  pid: number;
  db: pg.Client;
  operator: Call;
  /** Calls as the contact, for the client. */
  client: Call;
  /** Calls as a contact of another client, for that client. */
  as(clientId: string, contactId: string): Promise<Call>;
  clocks: Clocks;
  contactId: string;
  beneficiaryId: string;
  /** Account numbers. */
  eur: number;
  gbp: number;
  /** A trade that the institution created, which pays the payee. */
  tradeId: string;
  /** What some calls send to the database (LOMBARD_BENCH_RECORDED). */
  recording(calls: () => Promise<unknown>): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts the service on its own database.
 * @param environment LOMBARD_... variables of the service
 * @param apart runs background work in a separate process
 */
export async function startOrdering(environment = {}, apart = false): Promise<Ordering> {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-orders-'));
  const database = await startEmbedded({ dataDir: join(folder, 'data'), log });
  await migrate(database.socketUrl, log);
  const db = new pg.Client({ connectionString: database.socketUrl });
  await db.connect();
  const start = (variables: object) =>
    startFedService(database.socketUrl, join(folder, 'service'), {
      ...environment,
      LOMBARD_API_RATE: '0',
      ...variables,
    });
  const service = await start(apart ? { LOMBARD_ROLES: 'api,auth,operator' } : {});
  const worker = apart ? await start({ LOMBARD_ROLES: 'worker' }) : undefined;
  const pids = [service, ...(worker ? [worker] : [])].map(({ pid }) => pid);
  const agent = new Agent({ keepAlive: true });
  const operator: Call = (method, path, body) =>
    send(agent, `${service.operator}${path}`, { method, token: TOKEN, body });
  await operator('POST', '/clients', { client_id: CLIENT, client_name: 'Bench', fx_enabled: true });
  const clients = [{ client_id: CLIENT, permissions: PERMISSIONS }];
  const { contact_id: contactId } = await operator('POST', '/contacts', {
    ...{ name: 'Ada', email: 'ada@example.com', clients },
  });
  const account = async (currency: string): Promise<number> => {
    const { account_id: id } = await operator('POST', '/currency-accounts', { client_id: CLIENT, currency });
    const amount = { amount: FUNDS, currency };
    const booking = { client_id: CLIENT, currency_account_id: id, kind: 'CREDIT_INCOMING_TRANSACTION', amount };
    await operator('POST', '/transactions', booking);
    return id;
  };
  const [eur, gbp] = [await account('EUR'), await account('GBP')];
  const { beneficiary_id: beneficiaryId } = await operator('POST', '/beneficiaries', {
    ...{ client_id: CLIENT, beneficiary_name: 'Müller GmbH', iban: 'DE89370400440532013000', currency: 'EUR' },
  });
  const deal = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 100_000_000, rate: 1.17 };
  const { trade_id: tradeId } = await operator('POST', '/trades', {
    client_id: CLIENT,
    contact_id: contactId,
    ...deal,
  });
  await operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.17 } });
  await operator('PUT', '/fx-availability', { mode: 'open' });
  const query = (text: string, values?: unknown[]) => db.query(text, values);
  const as = async (clientId: string, contact: string): Promise<Call> => {
    const token = await accessToken({ query } as Pick<TestService, 'query'>, contact, TOKEN_SECONDS);
    return (method, path, body) => {
      const url = `${service.api}${path}${path.includes('?') ? '&' : '?'}client_id=${clientId}`;
      return send(agent, url, { method, token, body });
    };
  };
  const client = await as(CLIENT, contactId);
  return {
    ...{ url: database.socketUrl, pid: service.pid, db, operator, client, as, contactId, beneficiaryId },
    ...{ eur, gbp, tradeId },
    recording: service.recording,
    clocks: {
      program: () => pids.map(processorSeconds).reduce((all, each) => all + each),
      server: await serverClock(db),
    },
    stop: async () => {
      agent.destroy();
      await worker?.stop();
      await service.stop();
      await db.end();
      await database.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @throws Error if the call is refused */
function send(
  agent: Agent,
  url: string,
  { method, token, body }: { method: string; token: string; body?: object | undefined },
): Promise<unknown> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers: Record<string, string | number> = { authorization: `Bearer ${token}` };
    if (text !== undefined) headers['content-type'] = 'application/json';
    if (text !== undefined) headers['content-length'] = Buffer.byteLength(text);
    const outgoing = request(url, { method, agent, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', reject).on('end', () => {
        const said = Buffer.concat(parts).toString();
        if ((answer.statusCode ?? 500) < 300) resolve(said === '' ? undefined : JSON.parse(said));
        else reject(new Error(`${method} ${url} was answered ${answer.statusCode}: ${said}`));
      });
    });
    outgoing.on('error', reject).end(text);
  });
}
