import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOLIDAYS } from '../../src/sandbox/demonstration/calendars.ts';

/** As the Bank of England, the European Central Bank and the Federal Reserve publish them; a day that is moved is the one it is moved to. */
const PUBLISHED: [keyof typeof HOLIDAYS, number, string][] = [
  ['GBP', 2026, '01-01 04-03 04-06 05-04 05-25 08-31 12-25 12-28'],
  ['GBP', 2027, '01-01 03-26 03-29 05-03 05-31 08-30 12-27 12-28'],
  ['GBP', 2028, '01-03 04-14 04-17 05-01 05-29 08-28 12-25 12-26'],
  ['EUR', 2026, '01-01 04-03 04-06 05-01 12-25 12-26'],
  ['EUR', 2028, '01-01 04-14 04-17 05-01 12-25 12-26'],
  ['USD', 2026, '01-01 01-19 02-16 05-25 06-19 07-04 09-07 10-12 11-11 11-26 12-25'],
  ['USD', 2022, '01-01 01-17 02-21 05-30 06-20 07-04 09-05 10-10 11-11 11-24 12-26'],
];

for (const [currency, year, days] of PUBLISHED)
  test(`the holidays of ${currency} in ${year}`, () => {
    const found = HOLIDAYS[currency](year).map(({ date }) => date);
    assert.deepEqual(
      found,
      days.split(' ').map((day) => `${year}-${day}`),
    );
  });
