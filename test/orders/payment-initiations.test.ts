import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { FX_OPEN, moveClock } from '../world/exchange.ts';
import { validated } from '../world/iso20022.ts';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { PAYEE, treasuryOf as treasuryOfWorld } from '../world/treasury.ts';

/** A pain.001 becomes mass payments, and a pain.002 says what became of it (instructions, second page, 9). */

let service: TestService;
before(async () => {
  service = await startTestService();
  await moveClock(service, FX_OPEN);
  await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185, USD: 1.25 } });
});
after(() => service.stop());

const treasuryOf = (world: OrdersWorld) => treasuryOfWorld(service, world);
const STATUSES = ['//m:GrpSts', '//m:PmtInfSts', '//m:TxSts', '//m:TxInfAndSts/m:StsRsnInf/m:Rsn/m:Cd'];
const read = (xml: string, ...paths: string[]) => validated('pain.002.001.10', xml, ...paths);

describe('a pain.001', () => {
  test('becomes a mass payment for each block, whose payments keep its identifiers', async () => {
    const world = await ordersWorld(service, { funds: '5000.00' });
    const treasury = treasuryOf(world);
    const uetr = randomUUID();
    const { messageId, xml } = treasury.file({
      blocks: [
        {
          id: 'SALARIES',
          type: '<CtgyPurp><Cd>SALA</Cd></CtgyPurp>',
          transfers: [
            { ...PAYEE, amount: '100.10', instructionId: 'I-1', endToEndId: 'E-1', uetr, charges: 'DEBT' },
            { ...PAYEE, amount: '7.00', endToEndId: 'E-2' },
          ],
        },
        { transfers: [{ ...PAYEE, amount: '20.00', rest: '<Purp><Cd>SUPP</Cd></Purp>' }] },
      ],
    });
    const taken = await treasury.send(xml);
    assert.equal(taken.status, 202, taken.text);
    assert.match(taken.headers.get('content-type') ?? '', /^application\/xml/);
    assert.deepEqual(read(taken.text, '//m:GrpSts', '//m:OrgnlMsgId', '//m:OrgnlMsgNmId', '//m:OrgnlNbOfTxs'), [
      ['ACTC'],
      [messageId],
      ['pain.001.001.09'],
      ['3'],
    ]);
    const told = await treasury.settled(messageId);
    assert.deepEqual(read(told, '//m:OrgnlInstrId', '//m:OrgnlEndToEndId', '//m:OrgnlUETR', '//m:OrgnlPmtInfId'), [
      ['I-1'],
      ['E-1', 'E-2', 'E2E-1-0'],
      [uetr],
      ['SALARIES', `${messageId}-1`],
    ]);
    const files = await treasury.files(messageId);
    assert.deepEqual(
      files.map(({ external_reference_id: id }: { external_reference_id: string }) => id).sort(),
      [`${messageId}-1`, 'SALARIES'].sort(),
    );
    const salaries = files.find(
      (file: { payment_information_id: string }) => file.payment_information_id === 'SALARIES',
    );
    const received = await world.ask('GET', `/mass-payments/${salaries.mass_payment_id}/payments-received`);
    const paid = await world.paid(received.body[0].payment_id);
    assert.deepEqual(
      [paid.uuid, paid.end_to_end_id, paid.instruction_id, paid.charges, paid.reason, paid.amount, paid.reference],
      [uetr, 'E-1', 'I-1', 'OUR', 'salary_payroll', 100.1, 'Invoice 42'],
    );
    const [group, blocks, rows] = read(told, ...STATUSES);
    assert.deepEqual([group?.length, blocks?.length, rows?.length], [1, 2, 3]);
    assert.equal((await treasury.send(xml)).status, 409);
  });

  test('goes on without its bad rows, and says why', async () => {
    const world = await ordersWorld(service, { funds: '30.00' });
    const treasury = treasuryOf(world);
    const known = randomUUID();
    const first = treasury.file({ blocks: [{ transfers: [{ ...PAYEE, amount: '1.00', uetr: known }] }] });
    assert.equal((await treasury.send(first.xml)).status, 202);
    await treasury.settled(first.messageId);
    const twice = randomUUID();
    const { messageId, xml } = treasury.file({
      blocks: [
        {
          transfers: [
            { ...PAYEE, amount: '2.00', uetr: twice },
            { ...PAYEE, amount: '3.00', uetr: twice },
            { ...PAYEE, amount: '4.00', uetr: known },
            { ...PAYEE, amount: '5.00', account: '<IBAN>DE89370400440532013001</IBAN>' },
            { ...PAYEE, amount: '6.00', charges: 'CRED' },
            { ...PAYEE, amountElement: '<EqvtAmt><Amt Ccy="GBP">5.00</Amt><CcyOfTrf>EUR</CcyOfTrf></EqvtAmt>' },
            { ...PAYEE, amount: '7.00', currency: 'RUB' },
            { ...PAYEE, amount: '8.00', endToEndId: 'SAME' },
            { ...PAYEE, amount: '8.00', endToEndId: 'SAME' },
            { ...PAYEE, amount: '900.00' },
          ],
        },
      ],
    });
    assert.equal((await treasury.send(xml)).status, 202);
    const told = await treasury.settled(messageId);
    const [group, , rows, reasons] = read(told, ...STATUSES);
    assert.deepEqual(group, ['PART']);
    assert.deepEqual(
      rows?.map((status) => status === 'RJCT'),
      [false, true, true, true, true, true, true, false, true, true],
    );
    assert.deepEqual(reasons, ['DU03', 'DU03', 'AC03', 'BE19', 'AM12', 'AC11', 'AM05', 'AM04']);
    const [information] = read(told, '//m:TxInfAndSts/m:StsRsnInf/m:AddtlInf');
    assert.match(information?.[0] ?? '', /^already_exists: uuid /);
    assert.match(information?.[2] ?? '', /^invalid_iban: iban /);
  });

  test('moves a day on which nothing is paid, and says so', async () => {
    const world = await ordersWorld(service);
    const treasury = treasuryOf(world);
    const { messageId, xml } = treasury.file({
      blocks: [{ day: '2026-11-28', transfers: [{ ...PAYEE, amount: '1.00' }] }],
    });
    assert.equal((await treasury.send(xml)).status, 202);
    await treasury.settled(messageId);
    const [found] = (await world.ask('GET', '/payments', undefined, '&page_size=5')).body;
    assert.equal(found.payment_date.slice(0, 10), '2026-11-30');
    await world.act(found.payment_id, 'validate');
    assert.deepEqual(read(await treasury.status(messageId), ...STATUSES), [['ACWC'], ['ACWC'], ['ACWC'], ['DT06']]);
  });

  test('follows its payments to their end, and back', async () => {
    const world = await ordersWorld(service);
    const treasury = treasuryOf(world);
    const { messageId, xml } = treasury.file({ blocks: [{ transfers: [{ ...PAYEE, amount: '1.00' }] }] });
    assert.equal((await treasury.send(xml)).status, 202);
    await treasury.settled(messageId);
    const [{ payment_id: id }] = (await world.ask('GET', '/payments', undefined, '&page_size=5')).body;
    const seen: unknown[] = [];
    const look = async () => seen.push(...(read(await treasury.status(messageId), '//m:TxSts')[0] ?? []));
    await look();
    for (const action of ['validate', 'send', 'complete']) {
      await world.act(id, action);
      await look();
    }
    assert.deepEqual(seen, ['PDNG', 'ACCP', 'ACSP', 'ACSC']);
    const started = await service.operator('POST', `/payments/${id}/actions`, {
      action: 'start_return',
      reason: 'AC04',
    });
    assert.equal(started.status, 200, started.text);
    await world.act(id, 'return');
    const [group, , rows, reasons] = read(await treasury.status(messageId), ...STATUSES);
    assert.deepEqual([group, rows, reasons], [['RJCT'], ['RJCT'], ['AC04']]);
  });
});

describe('a block', () => {
  const CASES: [string, object, string][] = [
    ['whose number of transactions is wrong', { count: '2' }, 'AM20'],
    ['whose sum is wrong', { sum: '2.00' }, 'AM17'],
    ['of cheques', { method: 'CHK' }, 'CH16'],
    ['of yesterday', { day: '2026-11-23' }, 'DT01'],
    ['of a far day', { day: '2028-01-03' }, 'CH03'],
    ['of a year with five digits', { day: '12026-01-03' }, 'CH03'],
    ['of a year before the first one', { day: '-0001-01-03' }, 'DT01'],
    ['of an account that is not known', { debtor: '<Id><Othr><Id>999999</Id></Othr></Id>' }, 'AC02'],
  ];
  test('that cannot be done is refused, and the others go on', async () => {
    const world = await ordersWorld(service);
    const treasury = treasuryOf(world);
    const transfers = [{ ...PAYEE, amount: '1.00' }];
    for (const [name, sketch, code] of CASES) {
      const { messageId, xml } = treasury.file({ blocks: [{ transfers, ...sketch }, { transfers }] });
      const taken = await treasury.send(xml);
      assert.equal(taken.status, 202, name);
      const [group, blocks, reasons] = read(taken.text, '//m:GrpSts', '//m:PmtInfSts', '//m:StsRsnInf/m:Rsn/m:Cd');
      assert.deepEqual([group, blocks, reasons], [['PART'], ['RJCT', 'ACTC'], [code]], name);
      assert.equal((await treasury.files(messageId)).length, 1, name);
      const told = read(await treasury.settled(messageId), '//m:GrpSts', '//m:PmtInfSts');
      assert.deepEqual([told[0], told[1]?.[0]], [['PART'], 'RJCT'], name);
    }
    const alone = treasury.file({ blocks: [{ transfers, method: 'CHK' }] });
    const refused = await treasury.send(alone.xml);
    assert.deepEqual([refused.status, ...read(refused.text, '//m:GrpSts')], [202, ['RJCT']]);
    assert.equal((await treasury.send(alone.xml)).status, 409, 'its MsgId is used');
    const same = treasury.file({
      blocks: [
        { id: 'TWICE', transfers },
        { id: 'TWICE', transfers },
      ],
    });
    const answer = await treasury.send(same.xml);
    assert.deepEqual(read(answer.text, '//m:PmtInfSts', '//m:StsRsnInf/m:Rsn/m:Cd'), [['ACTC', 'RJCT'], ['DU02']]);
  });

  test('pays from an account that its IBAN names', async () => {
    const world = await ordersWorld(service);
    const treasury = treasuryOf(world);
    const made = await service.operator('POST', '/accounts', {
      ...{ client_id: world.clientId, currency: 'EUR' },
      account_details: [{ account_number: 'DE02 1203 0000 0000 2020 51', account_number_type: 'IBAN' }],
    });
    assert.equal(made.status, 201, made.text);
    const debtor = '<Id><IBAN>DE02120300000000202051</IBAN></Id>';
    const { messageId, xml } = treasury.file({ blocks: [{ debtor, transfers: [{ ...PAYEE, amount: '1.00' }] }] });
    const taken = await treasury.send(xml);
    assert.deepEqual(read(taken.text, '//m:GrpSts'), [['ACTC']]);
    await treasury.settled(messageId);
    const [file] = await treasury.files(messageId);
    assert.equal(file.mass_payment_status, 'Created');
    const mismatch = treasury.file({ blocks: [{ debtor: `${debtor}<Ccy>USD</Ccy>`, transfers: [PAYEE] }] });
    const refused = await treasury.send(mismatch.xml);
    assert.deepEqual(read(refused.text, '//m:StsRsnInf/m:Rsn/m:Cd'), [['AC02']]);
  });
});

describe('a file that is not taken', () => {
  test('is refused with a pain.002, and keeps nothing', async () => {
    const world = await ordersWorld(service);
    const treasury = treasuryOf(world);
    const { messageId, xml } = treasury.file({});
    const dtd = xml.replace('?>', '?><!DOCTYPE Document [<!ENTITY a "b">]>');
    const cases: [string, string | Buffer, string, string][] = [
      ['no XML', 'nonsense', 'FF01', 'NOTPROVIDED'],
      ['empty', '', 'FF01', 'NOTPROVIDED'],
      ['UTF-16', Buffer.from(xml, 'utf16le'), 'FF01', 'NOTPROVIDED'],
      ['a DTD', dtd, 'FF01', 'NOTPROVIDED'],
      ['against the schema', xml.replace('<PmtMtd>TRF</PmtMtd>', '<PmtMtd>XYZ</PmtMtd>'), 'FF01', messageId],
      ['a wrong count', xml.replace('<NbOfTxs>1</NbOfTxs>', '<NbOfTxs>2</NbOfTxs>'), 'AM19', messageId],
    ];
    for (const [name, file, code, original] of cases) {
      const refused = await treasury.send(file);
      assert.equal(refused.status, 400, name);
      const found = read(refused.text, '//m:GrpSts', '//m:StsRsnInf/m:Rsn/m:Cd', '//m:OrgnlMsgId');
      assert.deepEqual(found, [['RJCT'], [code], [original]], name);
    }
    assert.equal((await treasury.send(xml)).status, 202, 'its MsgId is free');
    const again = await treasury.send(xml);
    assert.equal(again.status, 409);
    assert.deepEqual(read(again.text, '//m:GrpSts', '//m:StsRsnInf/m:Rsn/m:Cd'), [['RJCT'], ['DU01']]);
  });

  test('is an ErrorMessage before it is read', async () => {
    const world = await ordersWorld(service);
    const treasury = treasuryOf(world);
    const { xml } = treasury.file({});
    const { token } = await world.clerk(['can_create_payments']);
    const denied = await treasury.send(xml, {}, token);
    assert.deepEqual([denied.status, denied.body.code], [403, 'permission_denied']);
    const json = await treasury.send('{}', { 'content-type': 'application/json' });
    assert.deepEqual([json.status, json.body.code], [415, 'unsupported_media_type']);
    const none = await world.ask('GET', '/payment-initiations/nothing/status');
    assert.deepEqual([none.status, none.body.code], [404, 'payment_initiation_not_found']);
  });

  test('is answered again under its Idempotency-Key', async () => {
    const world = await ordersWorld(service);
    const treasury = treasuryOf(world);
    const { messageId, xml } = treasury.file({});
    const key = { 'idempotency-key': randomUUID() };
    const first = await treasury.send(xml, key);
    const again = await treasury.send(xml, key);
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [202, 'true']);
    assert.match(again.headers.get('content-type') ?? '', /^application\/xml/);
    assert.equal(again.text, first.text);
    assert.equal((await treasury.files(messageId)).length, 1);
  });
});
