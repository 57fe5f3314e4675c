import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { readCsv } from '../../src/values/csv.ts';
import { FX_OPEN, moveClock } from '../world/exchange.ts';
import { filesOf, NEW, ROW } from '../world/files.ts';
import { validated } from '../world/iso20022.ts';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { pageSession } from '../world/page-session.ts';
import { call, startTestService, type TestService } from '../world/service.ts';
import { PAYEE, treasuryOf } from '../world/treasury.ts';
import { until } from '../world/until.ts';

/** Files that somebody made to hurt, or sends many times at once (instructions, second page, 8 and 9). */

const MIB = 1024 * 1024;
let service: TestService;
let world: OrdersWorld;
before(async () => {
  service = await startTestService();
  await moveClock(service, FX_OPEN);
  await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185 } });
  world = await ordersWorld(service);
});
after(() => service.stop());

const files = () => filesOf(service, world);
const query = () =>
  `&external_reference_id=${randomUUID()}&auto_commit=false&sell_currency=EUR&funding_account_id=${world.account}&reason=other`;
const HEADER = 'payment_currency,payment_amount,payment_reference,direction,trade_type,beneficiary_id';
const judged = (id: string) => files().reaches(id, 'Processed', 'Failed');

describe('a CSV', () => {
  for (const [name, text, status] of [
    ['UTF-16', Buffer.from(`\ufeff${HEADER}\nEUR,1,Invoice,buy,spot,X\n`, 'utf16le'), 400],
    ['NUL in a cell', `${HEADER}\nEUR,1,Inv\0oice,buy,spot,X\n`, 400],
    ['a quote that never ends, with 8 MiB behind it', `${HEADER}\nEUR,"${'x'.repeat(8 * MIB - 200)}`, 400],
    ['a quote that goes on behind its end', `${HEADER}\nEUR,"1"2,Invoice,buy,spot,X\n`, 400],
    ['8 MiB of line ends', `${HEADER}\n${'\n'.repeat(8 * MIB - 200)}`, 400],
    ['a header of 8 MiB', `${'payment_currency,'.repeat(490_000)}\nEUR\n`, 400],
    ['one byte too many', 'x'.repeat(8 * MIB + 1), 413],
  ] as const)
    test(`${name}: ${status}`, async () => {
      const refused = await files().csv(text, query());
      assert.equal(refused.status, status, refused.text.slice(0, 200));
      assert.equal(refused.body.code, status === 413 ? 'payload_too_large' : 'invalid_body');
      assert.ok(refused.text.length < 1_000);
    });

  for (const [name, cell, fault] of [
    ['8 MiB of one cell', 'x'.repeat(8 * MIB - 200), /payment_reference: must have 3 to 140 characters/],
    ['8 MiB of one amount', '9'.repeat(8 * MIB - 200), /payment_amount: must be a number above 0/],
    ['8 MiB of cells', ','.repeat(8 * MIB - 200), /the row has 8388\d\d\d cells, and the header 6/],
  ] as const)
    test(`${name} is a fault of its row, and the others are judged`, async () => {
      const column = name.includes('amount') ? `EUR,${cell},Invoice` : `EUR,2,${cell}`;
      const good = `EUR,1,Invoice,buy,spot,${world.beneficiaryId}`;
      const sent = await files().csv(`${HEADER}\n${column},buy,spot,X\n${good}\n`, query());
      assert.equal(sent.status, 202, sent.text);
      const file = await judged(sent.body.mass_payment_id);
      assert.deepEqual(
        [file.payments_summary.payments_errored, file.sums[0].payments],
        [1, 1],
        JSON.stringify(file).slice(0, 500),
      );
      const [row] = await files().errors(file.mass_payment_id);
      assert.ok(
        row.errors.some(({ details }: { details: string }) => fault.test(details)),
        JSON.stringify(row.errors),
      );
      assert.ok(JSON.stringify(row.errors).length < 2_000, 'errors repeat nothing that is long');
    });
});

describe('a file of JSON', () => {
  for (const item of ['{}', '0.0', '[]'])
    test(`of 8 MiB of ${item} is refused`, async () => {
      const list = `${item},`.repeat(Math.floor((8 * MIB - 200) / (item.length + 1)));
      const sent = await call(`${service.api}/mass-payments?client_id=${world.clientId}`, 'POST', {
        ...{ token: world.token, raw: `{"payment_instructions":[${list}0]}` },
        headers: { 'content-type': 'application/json' },
      });
      assert.deepEqual([sent.status, sent.body.details], [400, 'body: must have at most 300000 values']);
    });

  test('of rows that are nested is refused, or its row is', async () => {
    for (const depth of [100, 1_000, 2_000, 2_250, 3_000, 4_000, 5_000, 6_000, 1_000_000]) {
      const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
      const file = files().file([files().row(1), files().row(2, { note: 'DEEP' })]);
      const sent = await call(`${service.api}/mass-payments?client_id=${world.clientId}`, 'POST', {
        ...{ token: world.token, raw: JSON.stringify(file).replace('"DEEP"', deep) },
        headers: { 'content-type': 'application/json' },
      });
      assert.ok([202, 400].includes(sent.status), `${depth}: ${sent.status} ${sent.text.slice(0, 300)}`);
      if (sent.status === 400) {
        assert.match(sent.body.details, /^body: (is nested too deep|must have at most 300000 values)$/);
        continue;
      }
      const { mass_payment_id: id, payments_summary: counts } = await judged(sent.body.mass_payment_id);
      assert.equal(counts.payments_errored, 1, `${depth}`);
      const told = await world.ask('GET', `/mass-payments/${id}/errors`);
      assert.deepEqual([told.status, told.body[0].errors[0].code], [200, 'unknown_field'], `${depth}`);
      assert.equal((await world.ask('GET', `/mass-payments/${id}/payments-received`)).status, 200);
    }
  });

  test('with names that are formulas tells them in the errors as CSV as texts', async () => {
    const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '＝1', '=cmd|" /C calc"!A0'];
    const rows = formulas.map((name, n) => ({
      ...{ ...ROW, ...NEW, payment_amount: n + 1, beneficiary_name: name, iban: 'DE00', [`=${n}`]: '=2' },
    }));
    const file = await files().judged(files().file(rows));
    const pages = await pageSession(service, world.ordererId);
    const path = `/app/data/files/${file.mass_payment_id}/errors.csv?client_id=${world.clientId}`;
    const { status, text } = await pages.get(`${service.api}${path}`);
    assert.equal(status, 200, text);
    const lines = [...readCsv(text)].map(({ cells }) => cells);
    assert.equal(lines.length, formulas.length + 1);
    for (const cell of lines.flat()) assert.doesNotMatch(cell, /^\s*[=+\-@\uff1d]|^[\t\r\n]/);
    assert.ok(lines[1]?.includes("'=1+1"), JSON.stringify(lines[1]));
    const errors = await files().errors(file.mass_payment_id);
    assert.deepEqual(
      errors.map((row: { beneficiary_name: string }) => row.beneficiary_name),
      formulas,
      'the API tells what was sent',
    );
  });
});

describe('a pain.001', () => {
  test('that hurts is refused with FF01, and others are answered meanwhile', async () => {
    const treasury = treasuryOf(service, world);
    const { xml, messageId } = treasury.file({});
    const dtd = (content: string) => xml.replace('<Document', `<!DOCTYPE d ${content}><Document`);
    const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('');
    const hostile: [string, string | Buffer][] = [
      ['billion laughs', dtd(`[<!ENTITY l0 "lol">${laughs}]`).replace('Müller', '&l9;')],
      ['an external entity', dtd('[<!ENTITY x SYSTEM "file:///etc/passwd">]').replace('Müller', '&x;')],
      ['an external DTD', dtd(`SYSTEM "${service.api}/ping"`)],
      ['a depth of 100,000', `${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}`],
      ['UTF-16', Buffer.from(`\ufeff${xml.replace('UTF-8', 'UTF-16')}`, 'utf16le')],
      ['NUL', xml.replace('Acme', 'Ac\0me')],
      ['8 MiB of one text', xml.replace('Acme', 'x'.repeat(8 * MIB - xml.length))],
      ['8 MiB of elements', `<a>${'<a/>'.repeat(2_000_000)}</a>`],
    ];
    const answers = Promise.all(
      hostile.map(async ([name, file]) => {
        const refused = await treasury.send(file);
        assert.equal(refused.status, 400, name);
        const read = validated('pain.002.001.10', refused.text, '//m:GrpSts', '//m:StsRsnInf/m:Rsn/m:Cd');
        assert.deepEqual(read, [['RJCT'], ['FF01']], name);
        assert.ok(refused.text.length < 2_000 && !refused.text.includes('root:'), name);
      }),
    );
    let done = false;
    void answers.finally(() => {
      done = true;
    });
    let answered = 0;
    while (!done) {
      assert.equal((await world.ask('GET', '/balances')).status, 200);
      answered += 1;
    }
    await answers;
    assert.ok(answered > 3, `${answered}`);
    const large = await treasury.send('x'.repeat(8 * MIB + 1));
    assert.deepEqual([large.status, large.body.code], [413, 'payload_too_large']);
    assert.equal((await treasury.send(xml)).status, 202, 'its MsgId is free');
    await treasury.settled(messageId);
  });

  test('sent five times at once is taken once', async () => {
    const treasury = treasuryOf(service, world);
    const { xml, messageId } = treasury.file({});
    const sent = await Promise.all(Array.from({ length: 5 }, () => treasury.send(xml)));
    assert.deepEqual(sent.map(({ status }) => status).toSorted(), [202, 409, 409, 409, 409]);
    await treasury.settled(messageId);
    assert.equal((await treasury.files(messageId)).length, 1);
    const key = { 'idempotency-key': randomUUID() };
    const other = treasury.file({});
    const keyed = await Promise.all(Array.from({ length: 3 }, () => treasury.send(other.xml, key)));
    assert.deepEqual([...new Set(keyed.map(({ text }) => text))].length, 1);
    assert.deepEqual(
      keyed.map(({ status }) => status),
      [202, 202, 202],
    );
    await treasury.settled(other.messageId);
  });

  test('whose PmtInfId and UETR others have at the same moment: both are taken, one has the UETR', async () => {
    const of = await ordersWorld(service);
    const treasury = treasuryOf(service, of);
    const uetr = randomUUID();
    const sketch = () => treasury.file({ blocks: [{ id: 'SAME', transfers: [{ ...PAYEE, amount: '1.00', uetr }] }] });
    const both = [sketch(), sketch(), sketch()];
    const sent = await Promise.all(both.map(({ xml }) => treasury.send(xml)));
    assert.deepEqual(
      sent.map(({ status }) => status),
      [202, 202, 202],
    );
    const told = await Promise.all(both.map(({ messageId }) => treasury.settled(messageId)));
    const statuses = told.map((xml) => validated('pain.002.001.10', xml, '//m:TxSts', '//m:StsRsnInf/m:Rsn/m:Cd'));
    assert.deepEqual(statuses.map(([status]) => status?.[0]).toSorted(), ['PDNG', 'RJCT', 'RJCT']);
    for (const [, reasons] of statuses.filter(([status]) => status?.[0] === 'RJCT'))
      assert.deepEqual(reasons, ['DU03']);
    const { body } = await of.ask('GET', '/mass-payments');
    const references = body.map(({ external_reference_id: reference }: { external_reference_id: string }) => reference);
    assert.equal(new Set(references).size, 3);
    assert.equal(references.filter((reference: string) => reference === 'SAME').length, 1);
  });

  test('held because the price has moved is confirmed at the price of then', async () => {
    const setFx = (mode: string) => service.operator('PUT', '/fx-availability', { mode });
    const setRate = (EUR: number) =>
      service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR } });
    const of = await ordersWorld(service, { client: { fx_enabled: true } });
    const { body: pounds } = await service.operator('POST', '/currency-accounts', {
      ...{ client_id: of.clientId, currency: 'GBP' },
    });
    await service.operator('POST', '/transactions', {
      ...{ client_id: of.clientId, currency_account_id: pounds.account_id, kind: 'CREDIT_TRANSACTION' },
      amount: { amount: '1000.00', currency: 'GBP' },
    });
    const treasury = treasuryOf(service, of);
    await setFx('closed');
    const debtor = `<Id><Othr><Id>${pounds.account_id}</Id></Othr></Id>`;
    const { xml, messageId } = treasury.file({ blocks: [{ debtor, transfers: [PAYEE] }] });
    assert.equal((await treasury.send(xml)).status, 202);
    const file = () => treasury.files(messageId).then(([found]) => found);
    await until(async () => (await file())?.mass_payment_status === 'Queued for creating');
    const waited = 'select waited from mass_payments where mass_payment_id = $1';
    const { mass_payment_id: id } = await file();
    await until(async () => (await service.query(waited, [id])).rows[0].waited);
    await setRate(1.1);
    await setFx('open');
    const held = await filesOf(service, of).reaches(id, 'Processed');
    assert.equal(held.error.code, 'rate_moved');
    await setRate(1.0);
    assert.equal((await filesOf(service, of).confirm(id)).status, 202);
    const made = await filesOf(service, of).reaches(id, 'Created', 'Failed');
    await setFx('auto');
    await setRate(1.185);
    assert.deepEqual([made.mass_payment_status, made.error, made.trades_created], ['Created', null, 1]);
  });
});
