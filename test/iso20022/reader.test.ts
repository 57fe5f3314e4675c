import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Initiation, Refusal } from '../../src/iso20022/initiation.ts';
import { parseInitiation } from '../../src/iso20022/parser.ts';
import { isRefusal, readInitiation } from '../../src/iso20022/reader.ts';
import { MUELLER, pain001, type TransferSketch, validated } from '../world/iso20022.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function read(text: string): Initiation {
  const found = parseInitiation(bytes(text));
  assert.ok(!isRefusal(found), JSON.stringify(found));
  return found;
}

function refused(file: string | Uint8Array): Refusal {
  const found = parseInitiation(typeof file === 'string' ? bytes(file) : file);
  assert.ok(isRefusal(found), 'the file was read');
  return found;
}

/** The only transaction of a file, as it was mapped. */
function mapped(transfer: TransferSketch, file: Partial<Parameters<typeof pain001>[0]> = {}) {
  const xml = pain001({ messageId: 'M-1', blocks: [{ transfers: [transfer] }], ...file });
  validated(file.message ?? 'pain.001.001.09', xml);
  const [one] = read(xml).blocks.flatMap(({ transactions }) => transactions);
  assert.ok(one);
  return { row: JSON.parse(one.text), ...one };
}

describe('a pain.001 as instructions', () => {
  test('every element has its field', () => {
    const { row, extra, text } = mapped({
      instructionId: 'I-1',
      endToEndId: 'E-1',
      uetr: '7d8b0d7e-3b2a-4f3c-9a44-0d2c5a7f1e11',
      amount: '00250.50',
      charges: 'DEBT',
      agent:
        '<BICFI>DEUTDEFF</BICFI><ClrSysMmbId><MmbId>10070000</MmbId></ClrSysMmbId><Nm>Bank A</Nm><PstlAdr><Ctry>AT</Ctry></PstlAdr>',
      rest: '<Purp><Prtry>RENT</Prtry></Purp><RmtInf><Ustrd>Invoice 1</Ustrd><Ustrd>and 2</Ustrd></RmtInf>',
    });
    assert.deepEqual(row, {
      payment_currency: 'EUR',
      payment_amount: 250.5,
      payment_reference: 'Invoice 1 and 2',
      direction: 'buy',
      trade_type: 'spot',
      value_date: '2026-07-02',
      instruction_id: 'I-1',
      beneficiary_name: 'Müller & Söhne GmbH',
      beneficiary_country: 'DE',
      bank_country: 'AT',
      beneficiary_address: 'Lindenstrasse 7',
      beneficiary_city: 'Berlin',
      beneficiary_post_code: '10969',
      iban: 'DE89370400440532013000',
      bank_code: '10070000',
      swift_code: 'DEUTDEFF',
      bank_name: 'Bank A',
      purpose_of_payment: 'RENT',
    });
    assert.match(text, /"payment_amount":250\.50}$/);
    const uuid = '7d8b0d7e-3b2a-4f3c-9a44-0d2c5a7f1e11';
    assert.deepEqual(extra, { end_to_end_id: 'E-1', uuid, charges: 'OUR', reason: 'other' });
  });

  test('both versions say the same', () => {
    const transfer = { instructionId: 'I-1', agent: '<BICFI>DEUTDEFF</BICFI>' };
    assert.deepEqual(mapped(transfer, { message: 'pain.001.001.03' }), mapped(transfer));
  });

  test('the country of the bank is that of its address, of its BIC, of the IBAN', () => {
    const other = { ...MUELLER, account: '<Othr><Id>12345</Id></Othr>' };
    assert.equal(mapped({ agent: '<BICFI>BARCGB22</BICFI>' }).row.bank_country, 'GB');
    assert.equal(mapped({ agent: '<Nm>Bank</Nm>' }).row.bank_country, 'DE');
    assert.equal(mapped({ ...other, agent: '<Nm>Bank</Nm>' }).row.bank_country, undefined);
    assert.equal(mapped(other).row.account_number, '12345');
  });

  test('an address without parts is its lines', () => {
    const lines = '<AdrLine>221B Baker Street</AdrLine><AdrLine>London</AdrLine><Ctry>GB</Ctry>';
    const { row } = mapped({ creditor: `<Nm>Holmes</Nm><PstlAdr>${lines.replace(/(.*)(<Ctry.*)/, '$2$1')}</PstlAdr>` });
    assert.deepEqual([row.beneficiary_address, row.beneficiary_city], ['221B Baker Street', 'London']);
  });

  test('the reference is the text, else that of the creditor, else EndToEndId', () => {
    const structured = '<Strd><CdtrRefInf><Ref>RF18539007547034</Ref></CdtrRefInf></Strd>';
    const texts = `<Ustrd>${'a'.repeat(139)}</Ustrd><Ustrd>𝄞𝄞</Ustrd>`;
    const referenceOf = (rest: string) => mapped({ endToEndId: 'E-9', rest }).row.payment_reference;
    assert.equal(referenceOf(`<RmtInf>${structured}</RmtInf>`), 'RF18539007547034');
    assert.equal(referenceOf(`<RmtInf><Ustrd>Rent</Ustrd>${structured}</RmtInf>`), 'Rent');
    assert.equal(referenceOf(''), 'E-9');
    assert.equal(referenceOf(`<RmtInf>${texts}</RmtInf>`), `${'a'.repeat(139)} `);
  });

  test('reason and charges are those of the transaction, else those of its block', () => {
    const block = { type: '<CtgyPurp><Cd>SALA</Cd></CtgyPurp>', charges: 'DEBT', transfers: [{}, { charges: 'SHAR' }] };
    const [one, other] = read(pain001({ messageId: 'M', blocks: [block] })).blocks[0]?.transactions ?? [];
    assert.deepEqual([one?.extra.reason, one?.extra.charges], ['salary_payroll', 'OUR']);
    assert.deepEqual([other?.extra.reason, other?.extra.charges], ['salary_payroll', 'SHA']);
  });

  test('an amount in another currency and charges on the payee are faults of their rows', () => {
    const equivalent = '<EqvtAmt><Amt Ccy="GBP">5</Amt><CcyOfTrf>EUR</CcyOfTrf></EqvtAmt>';
    const { extra, row, amount } = mapped({ amountElement: equivalent, charges: 'CRED' });
    assert.deepEqual(
      extra.faults?.map(({ field }) => field),
      ['payment_amount', 'charges'],
    );
    assert.deepEqual([row.payment_amount, row.payment_currency, amount], [undefined, 'EUR', '5']);
  });

  test('the day is that of its zone in London', () => {
    const dayOf = (day: string) => read(pain001({ messageId: 'M', blocks: [{ day, transfers: [{}] }] })).blocks[0]?.day;
    assert.equal(dayOf('2026-07-02'), '2026-07-02');
    assert.equal(dayOf('2026-07-02+02:00'), '2026-07-02');
    assert.equal(dayOf('2026-07-02T23:30:00Z'), '2026-07-03');
    assert.equal(dayOf('2026-07-02T23:30:00'), '2026-07-02');
  });

  test('what stands between the elements is not read', () => {
    const xml = pain001({ messageId: 'M', blocks: [{ transfers: [{}] }] })
      .replaceAll('><', '>\n  <')
      .replace('<Nm>Müller', '<!-- a --><Nm><!-- b -->Mü<![CDATA[ll]]><?c d?>er')
      .replace('<Document', '<!-- e --><?f g?>\n<Document');
    assert.match(read(xml).blocks[0]?.transactions[0]?.text ?? '', /"beneficiary_name":"Müller & Söhne GmbH"/);
  });

  test('what stands behind a processing instruction is read', () => {
    const xml = pain001({ messageId: 'M', blocks: [{ transfers: [{}, {}] }, { transfers: [{}] }] });
    assert.deepEqual(read(xml.replaceAll(/<(?!\/|\?|Document)/g, '<?a b?><')), read(xml));
  });
});

describe('a file that is refused', () => {
  const good = pain001({ messageId: 'M-1', blocks: [{ transfers: [{}, {}] }] });
  const utf16 = new Uint8Array(Buffer.from(`\ufeff${good.replace('UTF-8', 'UTF-16')}`, 'utf16le'));
  const lol = Array.from({ length: 9 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('');
  const prolog = (dtd: string) => good.replace('<Document', `${dtd}<Document`);
  const huge = 'x'.repeat(8 * 1024 * 1024 - good.length);

  const FILES: Record<string, string | Uint8Array> = {
    'no bytes': '',
    'no XML': 'payment,amount\n1,2\n',
    'a tag that never ends': good.slice(0, -20),
    'billion laughs': prolog(`<!DOCTYPE d [<!ENTITY l0 "lol">${lol}]>`).replace('Müller', '&l9;'),
    'an external entity': prolog('<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>').replace('Müller', '&x;'),
    'an external DTD': prolog('<!DOCTYPE d SYSTEM "http://127.0.0.1:1/d.dtd">'),
    'a DTD behind comments': prolog('<!-- a --> <?b c?><!-- d -->\n<!DOCTYPE d>'),
    'an entity that nobody declared': good.replace('Müller', '&passwd;'),
    'a depth of 10,000': `<?xml version="1.0"?>${'<a>'.repeat(10_000)}${'</a>'.repeat(10_000)}`,
    'UTF-16': utf16,
    'UTF-16 without its mark': utf16.slice(2),
    'another encoding in words': good.replace('UTF-8', 'ISO-8859-1'),
    'a byte that is not UTF-8': new Uint8Array(Buffer.from(good, 'latin1')),
    NUL: good.replace('Acme', 'Ac\0me'),
    'a reference to NUL': good.replace('Acme', 'Ac&#0;me'),
    '8 MiB of one text': good.replace('Acme', huge),
    '8 MiB of one comment': good.replace('<GrpHdr>', `<!--${huge}--><GrpHdr>`).replace('<Dbtr>', '<Other/><Dbtr>'),
    '8 MiB of empty elements': `<a>${'<a/>'.repeat(2_000_000)}</a>`,
    'another message': good.replaceAll('pain.001.001.09', 'pain.008.001.08'),
    'another root': good.replaceAll('Document', 'Envelope'),
    'no namespace': good.replace(/ xmlns="[^"]+"/, ''),
    'an element too many': good.replace('<Dbtr>', '<Other/><Dbtr>'),
    'no transaction': good.replace(/<CdtTrfTxInf>.*<\/CdtTrfTxInf>/s, ''),
    'an IBAN that is none': good.replace('DE89370400440532013000', 'DE-89'),
  };
  for (const [name, file] of Object.entries(FILES))
    test(name, () => {
      const { code, details } = refused(file);
      assert.equal(code, 'FF01');
      assert.ok(details.length < 300, details);
    });

  test('it says where, and repeats no account', () => {
    const { details, messageId } = refused(good.replace('DE89370400440532013000', 'DE-89370400'));
    assert.equal(messageId, 'M-1');
    assert.match(details, /line 4, IBAN: its value is not valid \(pattern\)/);
    assert.doesNotMatch(details, /89370400/);
  });

  test('5,000 transactions are read, one more is not', () => {
    const file = (count: number) => pain001({ messageId: 'M', blocks: [{ transfers: Array(count).fill({}) }] });
    assert.equal(read(file(5_000)).blocks[0]?.transactions.length, 5_000);
    assert.match(refused(file(5_001)).details, /5001 transactions/);
  });

  test('NbOfTxs, then CtrlSum of the file', () => {
    const file = (count: string, sum: string) =>
      pain001({ messageId: 'M', count, sum, blocks: [{ transfers: [{ amount: '0.1' }, { amount: '0.2' }] }] });
    assert.equal(refused(file('3', '9')).code, 'AM19');
    assert.equal(refused(file('2', '0.30000000000000001')).code, 'AM10');
    assert.equal(read(file('02', '+0.30')).sum, '0.30');
  });

  test('a thread reads a file while others are answered, one after the other', async () => {
    const answers = await Promise.all(['A', 'B', ''].map((id) => readInitiation(bytes(good.replace('M-1', id)))));
    assert.deepEqual(
      answers.map(({ messageId }) => messageId),
      ['A', 'B', undefined],
    );
    assert.deepEqual(answers.map(isRefusal), [false, false, true]);
  });
});
