import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type BankAccount, electronic, judgeAccount } from '../../src/beneficiaries/bank-account.ts';
import { type BankRow, bankTable, readBankTable, rowFor } from '../../src/beneficiaries/bank-table.ts';
import { isBic, isIban, passes } from '../../src/beneficiaries/check-digits.ts';
import { describeNeeds } from '../../src/beneficiaries/metadata.ts';

/** The table of bank details (instructions, 4): vectors, and properties of every row. LOMBARD_TEST_SEED repeats a run. */

const SEED = Number(process.env.LOMBARD_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
let state = SEED;
/** mulberry32 */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (n: number) => Math.floor(random() * n);
const digits = (length: number) => Array.from({ length }, () => below(10)).join('');

const TABLE = bankTable(undefined);
const EMPTY: BankAccount = {
  ...{ bank_country_code: null, bank_currency_code: null, account_number: null, iban: null, bank_identifier: null },
  ...{
    swift_code: null,
    correspondent_account: null,
    correspondent_swift_code: null,
    address_line_1: null,
    city: null,
  },
  ...{ state_region: null, post_code: null, purpose_of_payment: null, reason_for_trade: null },
};
const faults = (account: Partial<BankAccount>) =>
  judgeAccount(TABLE, { ...EMPTY, ...account }).map(({ code, field }) => `${code} ${field}`);

const IBANS: Record<string, string> = {
  GB: 'GB29NWBK60161331926819',
  DE: 'DE89370400440532013000',
  AE: 'AE070331234567890123456',
  FR: 'FR1420041010050500013M02606',
  SA: 'SA0380000000608010167519',
};
const ALSO: Partial<BankAccount> = {
  ...{ address_line_1: '1 Street', city: 'City', state_region: 'State', post_code: '1000' },
  ...{ purpose_of_payment: 'Goods', reason_for_trade: 'other' },
};
/** Where a row is met: its countries, a currency, and details that are right. */
const GOOD: { country: string; currency: string; details: Partial<BankAccount> }[] = [
  {
    country: 'GB',
    currency: 'GBP',
    details: { account_number: '31926819', bank_identifier: '601613', iban: IBANS.GB },
  },
  { country: 'US', currency: 'USD', details: { account_number: '1', bank_identifier: '021000021' } },
  { country: 'MX', currency: 'MXN', details: { account_number: '032180000118359719' } },
  { country: 'CA', currency: 'CAD', details: { account_number: '1234567', bank_identifier: '000300002' } },
  { country: 'AU', currency: 'AUD', details: { account_number: '12345', bank_identifier: '062000' } },
  { country: 'IN', currency: 'INR', details: { account_number: '123456789', bank_identifier: 'HDFC0000001' } },
  { country: 'CN', currency: 'CNY', details: { account_number: '12345678', swift_code: 'BKCHCNBJ' } },
  { country: 'AE', currency: 'EUR', details: { iban: IBANS.AE, swift_code: 'EBILAEAD' } },
  {
    country: 'HK',
    currency: 'HKD',
    details: { account_number: '123456', bank_identifier: '004', swift_code: 'HSBCHKHH' },
  },
  {
    country: 'JP',
    currency: 'JPY',
    details: { account_number: '1234567', bank_identifier: '0005001', swift_code: 'BOTKJPJT' },
  },
  { country: 'DE', currency: 'EUR', details: { iban: IBANS.DE } },
  { country: 'MQ', currency: 'EUR', details: { iban: IBANS.FR } },
  { country: 'SA', currency: 'USD', details: { iban: IBANS.SA, swift_code: 'RJHISARI' } },
  { country: 'NC', currency: 'XPF', details: { iban: IBANS.FR, swift_code: 'BNPAFRPP' } },
  { country: 'GG', currency: 'GBP', details: { iban: IBANS.GB, swift_code: 'NWBKGB2L' } },
  { country: 'ZA', currency: 'ZAR', details: { account_number: 'A1', swift_code: 'SBZAZAJJ' } },
  { country: 'US', currency: 'EUR', details: { account_number: '9', swift_code: 'CHASUS33' } },
];
const only = (names: readonly string[], values: Partial<BankAccount>) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name))) as Partial<BankAccount>;
const needs = (row: BankRow) => [...row.groups.flat(), ...row.also];

test('every row is met by each of its groups alone, and by nothing less', () => {
  const seen = new Set<BankRow>();
  for (const { country, currency, details } of GOOD) {
    const row = rowFor(TABLE, country, currency);
    seen.add(row);
    const place = { bank_country_code: country, bank_currency_code: currency };
    assert.deepEqual(faults({ ...place, ...details, ...ALSO }), [], `${country} ${currency}`);
    for (const group of row.groups) {
      const alone = { ...place, ...only([...group, ...row.also], { ...details, ...ALSO }) };
      assert.deepEqual(faults(alone), [], `${country} ${currency} ${group}`);
      for (const name of [...group, ...row.also]) {
        const found = faults({ ...alone, [name]: null });
        assert.ok(found.length > 0 && found.every((fault) => fault.startsWith('required ')), `${name}: ${found}`);
        if (group.length > 1 || row.groups.length === 1)
          assert.ok(found.includes(`required ${name}`), `${name}: ${found}`);
      }
    }
  }
  assert.deepEqual(
    TABLE.rows.filter((row) => !seen.has(row)),
    [],
  );
});

test(`a changed digit is refused with its code (seed ${SEED})`, () => {
  const cases: [string, string, string, string][] = [
    ['GB', 'GBP', 'account_number', 'details_disagree'],
    ['GB', 'GBP', 'bank_identifier', 'details_disagree'],
    ['GB', 'GBP', 'iban', 'invalid_iban'],
    ['US', 'USD', 'bank_identifier', 'invalid_aba'],
    ['MX', 'MXN', 'account_number', 'invalid_clabe'],
    ['DE', 'EUR', 'iban', 'invalid_iban'],
    ['AE', 'EUR', 'iban', 'invalid_iban'],
  ];
  for (const [country, currency, field, code] of cases) {
    const { details } = GOOD.find(
      (each) => each.country === country && each.currency === currency,
    ) as (typeof GOOD)[number];
    const text = details[field as keyof BankAccount] as string;
    for (let round = 0; round < 50; round += 1) {
      const at = below(text.length);
      const was = text[at] as string;
      if (!/\d/.test(was)) continue;
      const now = String((Number(was) + 1 + below(9)) % 10);
      const changed = text.slice(0, at) + now + text.slice(at + 1);
      const found = faults({
        bank_country_code: country,
        bank_currency_code: currency,
        ...ALSO,
        ...details,
        [field]: changed,
      });
      assert.ok(found.includes(`${code} ${field}`), `${field} ${text} -> ${changed}: ${found}`);
    }
  }
});

test('lengths and letters have the code of the field', () => {
  const cases: [string, string, Partial<BankAccount>, string][] = [
    ['GB', 'GBP', { account_number: '1234567', bank_identifier: '601613' }, 'invalid_account_number account_number'],
    ['GB', 'GBP', { account_number: '31926819', bank_identifier: '60161A' }, 'invalid_sort_code bank_identifier'],
    [
      'US',
      'USD',
      { account_number: digits(18), bank_identifier: '021000021' },
      'invalid_account_number account_number',
    ],
    ['US', 'USD', { account_number: '1', bank_identifier: '02100002' }, 'invalid_aba bank_identifier'],
    ['MX', 'MXN', { account_number: digits(17) }, 'invalid_clabe account_number'],
    [
      'CA',
      'CAD',
      { account_number: '1234567', bank_identifier: '100300002' },
      'invalid_bank_identifier bank_identifier',
    ],
    ['AU', 'AUD', { account_number: '1234', bank_identifier: '062000' }, 'invalid_account_number account_number'],
    [
      'IN',
      'INR',
      { account_number: '123456789', bank_identifier: 'HDFC1000001' },
      'invalid_bank_identifier bank_identifier',
    ],
    ['ZA', 'ZAR', { account_number: 'A/1', swift_code: 'SBZAZAJJ' }, 'invalid_account_number account_number'],
    ['ZA', 'ZAR', { account_number: 'A'.repeat(35), swift_code: 'SBZAZAJJ' }, 'invalid_account_number account_number'],
    ['ZA', 'ZAR', { account_number: 'A', swift_code: 'SBZAZAJ' }, 'invalid_bic swift_code'],
    ['ZA', 'ZAR', { account_number: 'A', swift_code: 'COBADEFF' }, 'bic_country_mismatch swift_code'],
    ['DE', 'EUR', { iban: IBANS.GB }, 'iban_country_mismatch iban'],
    ['DE', 'EUR', { iban: IBANS.DE, swift_code: 'NWBKGB2L' }, 'bic_country_mismatch swift_code'],
    ['DE', 'EUR', { iban: IBANS.DE, account_number: '0532013001' }, 'details_disagree account_number'],
    ['DE', 'EUR', { iban: IBANS.DE, correspondent_account: '?' }, 'invalid_account_number correspondent_account'],
    ['DE', 'EUR', { iban: IBANS.DE, correspondent_swift_code: 'X' }, 'invalid_bic correspondent_swift_code'],
  ];
  for (const [country, currency, details, fault] of cases)
    assert.deepEqual(faults({ bank_country_code: country, bank_currency_code: currency, ...ALSO, ...details }), [
      fault,
    ]);
  assert.deepEqual(
    faults({
      bank_country_code: 'DE',
      bank_currency_code: 'EUR',
      iban: IBANS.DE,
      account_number: '0532013000',
      bank_identifier: '37040044',
      correspondent_swift_code: 'CHASUS33',
    }),
    [],
  );
});

test('of two groups the second may be begun; all faults are told at once, and none repeats a detail', () => {
  const begun = { bank_country_code: 'GB', bank_currency_code: 'GBP', iban: IBANS.GB, bank_identifier: '601613' };
  assert.deepEqual(faults(begun), []);
  const wrong = {
    bank_country_code: 'US',
    bank_currency_code: 'USD',
    account_number: 'SECRET-1',
    bank_identifier: '021000022',
  };
  const found = judgeAccount(TABLE, { ...EMPTY, ...wrong });
  assert.deepEqual(
    found.map(({ code, field }) => `${code} ${field}`),
    [
      ...['invalid_account_number account_number', 'invalid_aba bank_identifier', 'required address_line_1'],
      ...['required city', 'required state_region', 'required post_code'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(found), /SECRET|021000022/);
});

test('blanks and hyphens of all kinds are taken away, letters made capital', () => {
  assert.equal(electronic(' de89\u00a03704\u20030044\u2009 0532-0130\u201100\u2015\u3000'), IBANS.DE);
  assert.equal(electronic('60\u201016\u201213\u2013\u2014'), '601613');
  assert.equal(electronic(' - '), '');
});

test('countries that came into the IBAN registry lately have its row', () => {
  for (const [country, length] of [
    ['BI', 27],
    ['DJ', 27],
    ['FK', 18],
    ['HN', 28],
  ] as const) {
    assert.deepEqual(rowFor(TABLE, country, 'USD').groups, [['iban', 'swift_code']], country);
    const bban = '0'.repeat(length - 4);
    const made = Array.from({ length: 97 }, (_, n) => `${country}${String(n + 2).padStart(2, '0')}${bban}`);
    assert.equal(made.filter(isIban).length, 1, country);
    assert.ok(!made.some((iban) => isIban(`${iban}0`)));
  }
});

test('check digits', () => {
  assert.deepEqual([passes('aba', '021000021'), passes('aba', '021000022')], [true, false]);
  assert.deepEqual([passes('clabe', '032180000118359719'), passes('clabe', '032180000118359710')], [true, false]);
  assert.ok(isIban(IBANS.DE ?? '') && !isIban('DE89370400440532013001') && !isIban('DE8937040044053201300'));
  assert.ok(!isIban('XX89370400440532013000') && !isIban(''));
  // 02, 97 and 98 have a second spelling with the same remainder: 99, 00 and 01.
  for (const [digits, other, account] of [
    ['02', '99', '370400440532013014'],
    ['97', '00', '370400440532013050'],
    ['98', '01', '370400440532013032'],
  ])
    assert.deepEqual([isIban(`DE${digits}${account}`), isIban(`DE${other}${account}`)], [true, false], digits);
  // Lower case and full-width digits have the same values.
  assert.ok(!isIban('de89370400440532013000') && !isIban('DE8９370400440532013000'));
  for (const [bic, good] of [
    ['COBADEFF', true],
    ['COBADEFFXXX', true],
    ['COBADEFFXX', false],
    ['COBAZZFF', false],
    ['', false],
  ] as const)
    assert.equal(isBic(bic), good, bic);
});

test('the metadata says what the table says, for every country', () => {
  const bare = (name: string) => name.split('|')[0] as string;
  const all = describeNeeds(TABLE, {});
  assert.ok(all.length >= 250);
  for (const { country, reason_required: reason, currencies } of all) {
    assert.equal(currencies.at(-1)?.currency, 'default');
    for (const { currency, mandatory_data: mandatory, optional_data: optional } of currencies) {
      const row = rowFor(TABLE, country, currency === 'default' ? 'XTS' : currency);
      assert.deepEqual(
        mandatory.map((names) => names.map(bare)),
        row.groups.map((group) => [...group, ...row.also]),
      );
      assert.ok(optional.map(bare).every((name) => !needs(row).includes(name as never)));
    }
    assert.equal(reason, country === 'IN');
  }
  const [gb] = describeNeeds(TABLE, { country: 'GB' });
  assert.deepEqual(
    gb?.currencies.map(({ currency }) => currency),
    ['GBP', 'EUR', 'default'],
  );
  assert.deepEqual(gb?.currencies[0]?.mandatory_data, [['account_number', 'bank_identifier|Sort Code'], ['iban']]);
  const entry = (country: string, currency: string) => describeNeeds(TABLE, { country, currency })[0]?.currencies;
  assert.deepEqual(
    entry('GB', 'USD')?.map(({ currency }) => currency),
    ['default'],
  );
  assert.deepEqual(
    entry('AE', 'AED')?.map(({ currency }) => currency),
    ['default'],
  );
  assert.deepEqual(
    entry('DE', 'EUR')?.map(({ mandatory_data: data }) => data),
    [[['iban']]],
  );
});

test('a table of the institution is read with all that a table needs, and nothing else', () => {
  const own = readFileSync(new URL('../../src/beneficiaries/bank-details.json', import.meta.url), 'utf8');
  assert.deepEqual(readBankTable(own), TABLE);
  // biome-ignore lint/suspicious/noExplicitAny: a table that is spoilt is none
  const cases: [(table: any) => void, RegExp][] = [
    [(table) => delete table.rows, /must have rows/],
    [(table) => table.rows.pop(), /the last of rows must be of country \*/],
    [(table) => table.sepa.push('ZZ'), /^sepa\[\d+\] must be a country/],
    [(table) => (table.rows[0].country = 'UK'), /^rows\[0\]\.country must be a country/],
    [(table) => (table.rows[0].currency = 'GBX'), /^rows\[0\]\.currency must be a currency/],
    [(table) => (table.rows[0].groups = []), /^rows\[0\]\.groups must have at least one group/],
    [(table) => table.rows[0].groups[0].push('acount'), /^rows\[0\]\.groups\[0\] may name .*, not "acount"/],
    [(table) => table.rows[0].also.push('iban'), /^rows\[0\]\.also may name/],
    [(table) => (table.rows[0].formats.iban = {}), /^rows\[0\]\.formats has no field iban/],
    [(table) => (table.rows[0].formats.account_number.digits = [9, 8]), /a shortest and a longest length/],
    [(table) => delete table.rows[0].formats.account_number.digits, /either digits or letters_digits/],
    [(table) => (table.rows[0].formats.account_number.code = 'wrong'), /code must be one of/],
    [(table) => (table.rows[0].formats.account_number.check = 'toString'), /check must be a check/],
    [(table) => (table.rows[0].also = null), /^rows\[0\]\.also must be a list/],
  ];
  for (const [spoil, says] of cases) {
    const table = JSON.parse(own);
    spoil(table);
    assert.throws(() => readBankTable(JSON.stringify(table)), { message: says });
  }
});
