import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Command, lombard, PORTS, printed } from '../world/command.ts';
import { createExchange } from '../world/exchange.ts';
import { call, startTestService, type TestService } from '../world/service.ts';

/** One quote is one trade, whatever is killed while it is booked (instructions, 7 and 13). */
const ROUNDS = 4;
const QUOTES = 20;
/** Answers of a round before its service is killed. */
const ANSWERS = 6;
let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service?.stop());

/** A service that is killed: a process of its own, on the same database. */
async function startVictim(): Promise<{ command: Command; api: string }> {
  const command = lombard(['serve'], {
    ...PORTS,
    DATABASE_URL: service.databaseUrl,
    LOMBARD_ROLES: 'api',
    LOMBARD_API_RATE: '0',
    LOMBARD_DATA_DIR: service.config.dataDir,
    HOME: service.config.dataDir,
  });
  const [, api] = await printed(command, /"api":"([^"]+)".*"msg":"ready"/);
  return { command, api: api as string };
}

test('killed again and again, a service books each quote once, and holds for each trade', {
  timeout: 240_000,
}, async () => {
  const exchange = await createExchange(service);
  await exchange.put('/pricing', { quote_seconds: 3_600 });
  const account = await exchange.fund('GBP', '100000');
  const { clientId } = exchange;
  const answered: string[] = [];
  const asked: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { command, api } = await startVictim();
    const quotes: string[] = [];
    // An open quote takes one of the twenty places of its contact.
    const { token } = await exchange.hireTrader();
    for (let n = 0; n < QUOTES; n += 1) quotes.push((await exchange.quoted({ amount: 10 }, { token })).quote_id);
    asked.push(...quotes);
    let left = ANSWERS;
    const book = async (id: string) => {
      const body = { reason: 'payment_for_goods', funding_account_id: account };
      const headers = { 'idempotency-key': `book ${id}`.replaceAll(' ', '-') };
      const path = `/trades?client_id=${clientId}&quote_id=${id}`;
      const first = await call(`${api}${path}`, 'POST', { token, body, headers }).catch(() => undefined);
      left -= 1;
      if (left === 0) command.child.kill('SIGKILL');
      // Nobody knows what became of it: the same request with the same key tells.
      const { status, text, body: booked } = await service.client(token, 'POST', path, { body, headers });
      assert.equal(status, 201, text);
      if (first?.status === 201) assert.equal(first.text, text);
      answered.push(booked.trade_id);
    };
    await Promise.all(quotes.map(book));
    await command.ended;
  }
  assert.equal(new Set(answered).size, ROUNDS * QUOTES);
  const trades: { trade_id: string; quote_id: string | null }[] = [];
  for (let page = 1; trades.length < ROUNDS * QUOTES; page += 1) {
    const { body } = await service.operator(
      'GET',
      `/trades?client_id=${clientId}&source=client&page_size=1000&page=${page}`,
    );
    if (body.length === 0) break;
    trades.push(...body);
  }
  assert.deepEqual(trades.map(({ trade_id: id }) => id).toSorted(), answered.toSorted());
  assert.deepEqual(trades.map(({ quote_id: id }) => id).toSorted(), asked.toSorted());
  const { body: funds } = await service.operator('GET', `/currency-accounts/${account}`);
  assert.equal(Number(funds.held), ROUNDS * QUOTES * 10);
  const { body: holds } = await service.operator('GET', `/holds?client_id=${clientId}&state=open&page_size=1000`);
  assert.equal(holds.length, ROUNDS * QUOTES);
});
