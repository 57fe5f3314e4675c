import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { connectTo, ONE_CELL } from '../world/cells.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Bookings at the same moment: some of them share a transaction, and nobody notices but the clock. */

let service: TestService;
let clientId: string;
let account: number;
before(async () => {
  service = await startTestService();
  clientId = (await service.operator('POST', '/clients', { client_name: 'Acme' })).body.client_id;
  const opened = await service.operator('POST', '/currency-accounts', { client_id: clientId, currency: 'EUR' });
  account = opened.body.account_id;
});
after(() => service.stop());

function book(fields: object = {}, key?: string): Promise<Answer> {
  const body = {
    client_id: clientId,
    currency_account_id: account,
    kind: 'CREDIT_INCOMING_TRANSACTION',
    amount: { amount: '1.10', currency: 'EUR' },
    ...fields,
  };
  return service.operator(
    'POST',
    '/transactions',
    body,
    key === undefined ? {} : { headers: { 'idempotency-key': key } },
  );
}

async function changesAfter(cursor: string) {
  const { body } = await service.operator('GET', `/changes?after=${cursor}&limit=1000`);
  return body.changes as {
    entity: string;
    entity_id: string;
    version: number;
    request_id: string;
    data: { balance: string };
  }[];
}

test('each has its answer, its balance, its audit row and its changes', async () => {
  const start = (await service.operator('GET', '/changes?after=now')).body.cursor;
  const given = randomUUID();
  assert.equal((await book({ transaction_id: given })).status, 201);
  const wanted: [fields: object, status: number, key?: string][] = [];
  for (let n = 0; n < 60; n += 1) {
    wanted.push([{}, 201, `key-${n}`]);
    if (n % 15 === 3) wanted.push([{ amount: { amount: '1', currency: 'GBP' } }, 400, `refused-${n}`]);
    if (n % 15 === 6) wanted.push([{ amount: { amount: '0', currency: 'EUR' } }, 400]);
    if (n === 40) wanted.push([{ transaction_id: given }, 409, 'taken']);
  }
  const answers = await Promise.all(wanted.map(([fields, , key]) => book(fields, key)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    wanted.map(([, status]) => status),
  );
  const booked = answers.filter(({ status }) => status === 201);
  const balances = booked.map(({ body }) => Number(body.balance.amount.amount)).sort((a, b) => a - b);
  assert.deepEqual(
    balances,
    balances.map((_, n) => Number(((n + 2) * 1.1).toFixed(2))),
  );
  const { rows } = await service.query(
    `select count(*)::int as rows, count(distinct request_id)::int as requests from audit where entity = 'transaction' and client_id = $1`,
    [clientId],
  );
  assert.deepEqual(rows, [{ rows: booked.length + 1, requests: booked.length + 1 }]);
  // The feed has its order a moment after the commits.
  const last = booked.length + 2;
  const changes = await until(async () => {
    const found = await changesAfter(start);
    return found.some(({ entity, version }) => entity === 'currency_account' && version === last) && found;
  });
  const ofAccount = changes.filter(({ entity }) => entity === 'currency_account');
  assert.deepEqual(
    ofAccount.map(({ version }) => version),
    ofAccount.map((_, n) => n + (ofAccount[0]?.version ?? 0)),
  );
  assert.equal(ofAccount.at(-1)?.version, last);
  const moved = ofAccount.filter(({ version }) => version > 1);
  const transactions = changes.filter(({ entity }) => entity === 'transaction');
  assert.deepEqual(
    new Set(transactions.map(({ request_id: id }) => id)),
    new Set(moved.map(({ request_id: id }) => id)),
  );
  assert.equal(ofAccount.at(-1)?.data.balance, ((booked.length + 1) * 1.1).toFixed(2));
  // Sent again: the same answers, and the keys of refused requests are free.
  const again = await Promise.all(wanted.map(([fields, , key]) => (key === undefined ? undefined : book(fields, key))));
  for (const [index, answer] of again.entries()) {
    if (!answer || wanted[index]?.[1] !== 201) continue;
    assert.equal(answer.text, answers[index]?.text);
    assert.equal(answer.headers.get('idempotency-replayed'), 'true');
  }
  assert.equal((await book({}, 'refused-3')).status, 201);
});

test('a key that is sent many times at once books once', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => book({}, 'the same')));
  assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1, answers[0]?.text);
  const other = await Promise.all([book({ debtor_name: 'Other' }, 'the same'), book(), book()]);
  assert.deepEqual(
    other.map(({ status }) => status),
    [409, 201, 201],
  );
  assert.equal((await book({}, 'the same')).text, answers[0]?.text);
});

test('an identifier that two of them give is booked once, and the others are', async () => {
  const id = randomUUID();
  const answers = await Promise.all([
    book(),
    book({ transaction_id: id }),
    book(),
    book({ transaction_id: id }),
    book(),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 201, 201, 201, 409]);
  assert.equal(answers.find(({ status }) => status === 409)?.body.code, 'already_exists');
});

/** Clients with an account each. */
async function accounts(count: number): Promise<{ client_id: string; currency_account_id: number }[]> {
  const made = Array.from({ length: count }, async (_, n) => {
    const { body } = await service.operator('POST', '/clients', { client_name: `Client ${n}` });
    const opened = await service.operator('POST', '/currency-accounts', { client_id: body.client_id, currency: 'EUR' });
    return { client_id: body.client_id, currency_account_id: opened.body.account_id };
  });
  return Promise.all(made);
}

test('those of different clients share transactions, and each account has its own balance, trail and changes', async () => {
  const owners = await accounts(30);
  const start = (await service.operator('GET', '/changes?after=now')).body.cursor;
  const wanted = Array.from({ length: 60 }, (_, n) => owners[n % owners.length]);
  const answers = await Promise.all(
    wanted.map((owner, n) => book({ ...owner, debtor_name: `Debtor ${n}` }, `many-${n}`)),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  for (const [index, owner] of owners.entries()) {
    const own = answers.filter((_, n) => n % owners.length === index);
    assert.deepEqual(new Set(own.map(({ body }) => body.client_id)), new Set([owner.client_id]));
    assert.deepEqual(
      own.map(({ body }) => Number(body.balance.amount.amount)).toSorted((a, b) => a - b),
      own.map((_, n) => Number(((n + 1) * 1.1).toFixed(2))),
    );
  }
  // Several cells are read through views, which have no xmin.
  if (!ONE_CELL) {
    const { rows } = await service.query(
      'select count(*)::int as bookings, count(distinct xmin::text)::int as shared from transactions where client_id = any($1)',
      [owners.map((owner) => owner.client_id)],
    );
    assert.equal(rows[0].bookings, 60);
    assert.ok(rows[0].shared < 30, `${rows[0].shared} transactions for 60 bookings`);
  }
  const changes = await until(async () => {
    const found = await changesAfter(start);
    // The first version is that of the account without bookings.
    const booked = found.filter(({ entity, version }) => entity === 'currency_account' && version > 1);
    return booked.length >= 60 && booked;
  });
  for (const owner of owners) {
    const own = changes.filter(({ entity_id: id }) => id === String(owner.currency_account_id));
    assert.deepEqual(
      own.map(({ version, data }) => `${version} ${data.balance}`),
      own.map((_, n) => `${n + 2} ${((n + 1) * 1.1).toFixed(2)}`),
    );
  }
  assert.equal(new Set(changes.map(({ request_id: id }) => id)).size, 60, 'each has a step of its own');
});

test('accounts that somebody holds keep nobody waiting but their own bookings', async (t) => {
  const owners = await accounts(8);
  const [held, free] = [owners.slice(0, 2), owners.slice(2)];
  const holders = await Promise.all(held.map((owner) => connectTo(service, owner.client_id)));
  t.after(() => Promise.all(holders.map((holder) => holder.end())));
  for (const [index, holder] of holders.entries()) {
    await holder.query('begin');
    await holder.query('select from currency_accounts where client_id = $1 and account_id = $2 for no key update', [
      held[index]?.client_id,
      held[index]?.currency_account_id,
    ]);
  }
  let ended = 0;
  const own = Array.from({ length: 10 }, async (_, n) => {
    const answer = await book(held[n % 2], `held-${n}`);
    ended += 1;
    return answer;
  });
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all([...free, ...free].map((owner) => book(owner)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  }
  assert.equal(ended, 0);
  for (const holder of holders) await holder.query('rollback');
  const answers = await Promise.all(own);
  for (const index of [0, 1])
    assert.deepEqual(
      answers
        .filter((_, n) => n % 2 === index)
        .map(({ status, body }) => `${status} ${body.balance.amount.amount}`)
        .toSorted(),
      ['1.10', '2.20', '3.30', '4.40', '5.50'].map((balance) => `201 ${balance}`),
    );
  assert.equal((await book(held[0], 'held-0')).text, answers[0]?.text);
});
