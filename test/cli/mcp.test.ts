import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { REPOSITORY } from '../world/command.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';

let sandbox: Sandbox;
let client: Client;
before(async () => {
  sandbox = await startSandbox();
  client = new Client({ name: 'a test', version: '1' });
  const env = { ...sandbox.environment, PATH: process.env.PATH ?? '' };
  await client.connect(new StdioClientTransport({ command: join(REPOSITORY, 'bin/lombard'), args: ['mcp'], env }));
});
after(async () => {
  await client?.close();
  await sandbox?.stop();
});

async function ask(name: string, input: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const [first] = content as { text: string }[];
  return { isError: isError === true, text: first?.text ?? '' };
}

test('an assistant sees the reading operations of the description, the estimate, and nothing that changes', async () => {
  const { tools } = await client.listTools();
  const document = await (await fetch(`${sandbox.addresses.api}/openapi.json`)).json();
  const reading = Object.values<{ get?: { operationId: string; responses: Record<string, { content?: object }> } }>(
    document.paths,
  ).flatMap(({ get }) => (get && 'application/json' in (get.responses['200']?.content ?? {}) ? [get.operationId] : []));
  assert.deepEqual(tools.map(({ name }) => name).sort(), [...reading, 'estimateQuote', 'listSubscriptions'].sort());
  for (const { inputSchema, annotations } of tools) {
    assert.equal(annotations?.readOnlyHint, true);
    assert.ok(!('client_id' in (inputSchema.properties ?? {})));
  }
  assert.match(client.getInstructions() ?? '', /Nothing can be changed/);
});

test('it searches payments, reads one, and gets the code and details of a refusal', async () => {
  const list = JSON.parse((await ask('searchPayments', { status: 'pending', page_size: 2 })).text);
  assert.equal(list.length, 2);
  const payment = JSON.parse((await ask('getPayment', { payment_id: list[0].payment_id })).text);
  assert.equal(payment.payment_id, list[0].payment_id);
  assert.ok(JSON.parse((await ask('listCurrencyAccounts')).text).length > 0);
  assert.ok(Array.isArray(JSON.parse((await ask('listSubscriptions')).text)));
  const refused = await ask('searchPayments', { page_size: 2_000 });
  assert.ok(refused.isError);
  assert.equal(JSON.parse(refused.text).code, 'invalid_parameter');
  assert.ok((await ask('getPayment', { payment_id: 'none' })).isError);
  assert.ok((await ask('searchPayments', { client_id: 'CLI000002' })).isError);
  assert.ok((await ask('cancelPayment', { payment_id: payment.payment_id })).isError);
});

test('it asks what an exchange would cost, and is told what is wrong with a call', async () => {
  const exchange = { operation: 'sell', sell_currency: 'GBP', buy_currency: 'EUR', trade_type: 'spot' };
  const { isError, text } = await ask('estimateQuote', { ...exchange, amount: 1000 });
  assert.equal(isError, false, text);
  const estimate = JSON.parse(text);
  assert.deepEqual([estimate.sell_amount, estimate.quote_id, estimate.quoted_rate], [1000, undefined, null]);
  const refused = await ask('estimateQuote', exchange);
  assert.deepEqual([refused.isError, JSON.parse(refused.text).code], [true, 'invalid_body']);
  assert.deepEqual(await ask('getPayment'), {
    isError: true,
    text: 'payment_id: must be the text of an identifier',
  });
});
