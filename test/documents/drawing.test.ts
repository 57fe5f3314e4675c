import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { currencyName, groupedAmount } from '../../src/documents/currency.ts';
import { documentPdf } from '../../src/documents/document.ts';
import { MAX_WAITING_DRAWINGS, Renderer } from '../../src/documents/renderer.ts';
import { RenderError } from '../../src/documents/task.ts';
import { logoFrom } from '../../src/settings/institution.ts';
import { statementPdf } from '../../src/statements/pdf.ts';
import { minorUnits } from '../../src/values/currencies.ts';
import { printable } from '../../src/values/text.ts';
import { exampleStatement, institution, payment, trade } from '../world/documents.ts';
import { fontsOf, infoOf, misplaced, noPoppler, textOf, wordsOf } from '../world/pdf.ts';

const renderer = new Renderer();
after(() => renderer.stop());

const flat = (text: string) => text.replace(/\s+/g, ' ');
const NASTY =
  `"O'Brien" & <b>#strong[x] $1$ \\ _*` +
  ' עברית שלום בע״מ الشركة العربية للتجارة 🚀👩‍👩‍👧🇬🇧 北京 \u202Ekcab\u202C \u0000\u0007 ' +
  'Ω'.repeat(120) +
  ' ';
const LONG = (NASTY + 'Gesellschaft für internationale Zusammenarbeit '.repeat(20)).slice(0, 500);

describe('amounts on paper', () => {
  const table: [amount: string, currency: string, printed: string][] = [
    ['1234.5', 'GBP', '1,234.50'],
    ['0.1', 'EUR', '0.10'],
    ['0.12345678', 'USD', '0.12345678'],
    ['1000000000000000', 'JPY', '1,000,000,000,000,000'],
    ['999999999999999999.99999999', 'GBP', '999,999,999,999,999,999.99999999'],
    ['12.5', 'JPY', '12.5'],
    ['7', 'BHD', '7.000'],
    ['-15.2', 'GBP', '\u221215.20'],
    ['5', 'XYZ', '5.00'],
  ];
  for (const [amount, currency, printed] of table) {
    test(`${amount} ${currency} is ${printed}`, () => assert.equal(groupedAmount(amount, currency), printed));
  }

  test('no digit is lost or invented', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 26n }), fc.integer({ min: 0, max: 8 }), (digits, places) => {
        const text = digits.toString().padStart(places + 1, '0');
        const amount = places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
        const [whole, fraction = ''] = groupedAmount(amount, 'GBP').replaceAll(',', '').split('.');
        const [storedWhole, storedFraction = ''] = amount.split('.');
        assert.equal(whole, storedWhole!.replace(/^0+(?=\d)/, ''));
        assert.equal(fraction.replace(/0+$/, ''), storedFraction.replace(/0+$/, ''));
        assert.ok(fraction.length >= 2);
      }),
    );
  });

  test('currencies have names and minor units, unknown ones their code', () => {
    assert.equal(currencyName('EUR'), 'Euro');
    assert.equal(currencyName('XQQ'), 'XQQ');
    assert.deepEqual(['GBP', 'JPY', 'KWD', 'HUF', 'XQQ', 'nonsense'].map(minorUnits), [2, 0, 3, 2, 2, 2]);
  });
});

test('text that is printed has no control and no direction-overriding characters', () => {
  assert.equal(printable('a\u202Eb\u2066c\u0000d\ne\ud800'), 'abcd e\ufffd');
});

describe('layouts', { skip: noPoppler }, () => {
  test('a payment instruction reads in order: parties, references, approvals', async () => {
    const pdf = await documentPdf({ renderer, institution }, 'pi', payment);
    const text = flat(textOf(pdf));
    const order = [
      'Payment instruction',
      'PAY000042 · 1 July 2026, 10:15:00 (UTC+01:00)',
      'EUR 1,250,000.50 Euro',
      'Ordering customer',
      'Name Acme Trading Ltd',
      'Beneficiary BEN000007',
      'IBAN DE89370400440532013000',
      'BIC COBADEFFXXX',
      'Reference INV-2026-0042',
      'UETR 6f1a8a5e-3f1e-4b6b-9d0a-1c7f6f2f9f11',
      'Payment date 3 July 2026',
      'Approvals',
      'Ελένη Παπαδοπούλου (CON000002)',
      'Сергей Иванов (CON000003)',
      'Page 1 of 1',
    ];
    let at = -1;
    for (const expected of order) {
      const found = text.indexOf(expected, at + 1);
      assert.ok(found > at, `${expected} comes after what stands before it, in: ${text}`);
      at = found;
    }
    for (const pair of [
      'Name Müller & Söhne Großhandel GmbH',
      'Fee GBP 15.00 (British Pound)',
      'Charges SHA',
      'Ordered by Ada Byron (CON000001)',
    ]) {
      assert.ok(text.includes(pair), `${pair} is in: ${text}`);
    }
    assert.ok(!text.includes('Sent'), 'an instruction says nothing of the sending');
  });

  test('a payment receipt says when it was sent, and carries that date', async () => {
    const pdf = await documentPdf({ renderer, institution }, 'pr', payment);
    const text = flat(textOf(pdf));
    assert.ok(text.includes('Payment receipt PAY000042 · 3 July 2026, 09:00:00 (UTC+01:00)'), text);
    assert.ok(text.includes('Sent 3 July 2026, 09:00:00 (UTC+01:00)'), text);
    const info = infoOf(pdf);
    assert.equal(info.Title, 'Payment receipt PAY000042');
    assert.equal(info.Author, 'Lombard Sandbox');
    assert.match(info.CreationDate!, /Jul {2}3 09:00:00 2026/);
    assert.equal(info.Tagged, 'yes');
    assert.match(pdf.toString('latin1'), /pdfuaid:part>1</);
    assert.match(pdf.toString('latin1'), /\/Lang \(en-GB\)/);
  });

  test('a trade receipt shows both amounts, the rate and its payments', async () => {
    const text = flat(textOf(await documentPdf({ renderer, institution }, 'tr', trade)));
    for (const expected of [
      'You buy EUR 1,250,000.50 Euro',
      'You sell GBP 1,084,787.38 British Pound',
      'Rate 1.1523 (GBPEUR)',
      'Type window forward',
      'PAY000042',
    ]) {
      assert.ok(text.includes(expected), `${expected} is in: ${text}`);
    }
  });

  test('every font is embedded and maps back to Unicode', async () => {
    const named = { ...payment, beneficiary: { ...payment.beneficiary, name: LONG } };
    const fonts = fontsOf(await documentPdf({ renderer, institution }, 'pi', named));
    assert.ok(fonts.length >= 5, JSON.stringify(fonts));
    assert.deepEqual(
      fonts.filter((font) => !font.embedded || !font.unicode),
      [],
    );
  });

  test('names are text, never markup; 500 characters and 10^15 stay inside the margins', async () => {
    const nasty = {
      ...payment,
      amount: '1000000000000000.12',
      reference: 'X'.repeat(500),
      fee_amount: '999999999999999999.99999999',
      charges: LONG,
      client: { client_id: 'C'.repeat(128), client_name: LONG, account_number: '9'.repeat(200) },
      ordered_by: { contact_id: 'CON000001', name: LONG },
      beneficiary: { ...payment.beneficiary, name: LONG, iban: 'D'.repeat(100), bank_name: LONG, address: LONG },
      approvals: {
        ...payment.approvals,
        authorisations: payment.approvals.authorisations.map((each) => ({ ...each, contact_name: LONG })),
      },
    };
    const house = { ...institution, name: LONG, logo: undefined, address: [LONG.slice(0, 200), '1 Lombard Street'] };
    for (const pdf of [
      await documentPdf({ renderer, institution }, 'pi', nasty),
      await documentPdf({ renderer, institution: house }, 'pr', nasty),
      await documentPdf({ renderer, institution: house }, 'tr', {
        ...trade,
        reference: LONG,
        buy_amount: '1000000000000000.12345678',
        sell_amount: '999999999999999999.99',
        payments: Array.from({ length: 60 }, () => ({
          ...trade.payments[0]!,
          beneficiary_name: LONG,
          amount: '999999999999999999.99999999',
        })),
      }),
    ]) {
      assert.deepEqual(misplaced(wordsOf(pdf)), []);
      const text = textOf(pdf);
      assert.ok(
        text.includes('#strong[x]') && text.includes('<b>') && text.includes('"O\'Brien"'),
        'markup is printed as it is written',
      );
      assert.ok(/Page 2 of \d+/.test(text), 'pages are numbered');
    }
  });

  test('whatever the names are, nothing leaves its place', async () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 500 });
    await fc.assert(
      fc.asyncProperty(name, name, fc.bigInt({ min: 1n, max: 10n ** 17n }), async (first, second, minor) => {
        const facts = {
          ...payment,
          reference: second,
          amount: `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`,
          client: { ...payment.client, client_name: first },
          beneficiary: { ...payment.beneficiary, name: second },
        };
        assert.deepEqual(misplaced(wordsOf(await documentPdf({ renderer, institution }, 'pi', facts))), []);
      }),
      { numRuns: 25 },
    );
  });
});

test('a name in another script is drawn with a font of the directory, and only then', { skip: noPoppler }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-fonts-'));
  writeFileSync(join(folder, 'other.TTF'), fontFor('株', '式'));
  const own = new Renderer({ size: 1, fontDirectories: [folder] });
  const named = { ...payment, beneficiary: { ...payment.beneficiary, name: 'ACME 株式' } };
  try {
    const [without, drawn] = await Promise.all(
      [renderer, own].map((each) => documentPdf({ renderer: each, institution }, 'pi', named)),
    );
    assert.match(textOf(drawn!), /ACME 株式/);
    // The standard allows no character without a glyph.
    assert.deepEqual([claimsStandard(without!), claimsStandard(drawn!)], [false, true]);
  } finally {
    await own.stop();
    rmSync(folder, { recursive: true });
  }
});

test('fonts of the system are not used, so that documents are the same everywhere', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-system-fonts-'));
  writeFileSync(join(folder, 'other.TTF'), fontFor('株', '式'));
  const configuration = join(folder, 'fonts.conf');
  writeFileSync(configuration, `<?xml version="1.0"?><fontconfig><dir>${folder}</dir></fontconfig>`);
  const former = process.env.FONTCONFIG_FILE;
  process.env.FONTCONFIG_FILE = configuration;
  const own = new Renderer({ size: 1 });
  try {
    const named = { ...payment, beneficiary: { ...payment.beneficiary, name: 'ACME 株式' } };
    const drawn = await documentPdf({ renderer: own, institution }, 'pi', named);
    assert.equal(claimsStandard(drawn), false);
    assert.equal(process.env.FONTCONFIG_FILE, configuration, 'others find them');
  } finally {
    if (former === undefined) delete process.env.FONTCONFIG_FILE;
    else process.env.FONTCONFIG_FILE = former;
    await own.stop();
    rmSync(folder, { recursive: true });
  }
});

const claimsStandard = (pdf: Buffer) => pdf.includes('pdfuaid');

/** A font that has two characters, which look as A and B of the service's own. */
function fontFor(...characters: [string, string]): Buffer {
  const font = readFileSync(new URL('../../src/documents/fonts/NotoSans-Regular.ttf', import.meta.url));
  const entry = font.indexOf('cmap', 0, 'latin1');
  const table = Buffer.alloc(12 + 16 + 12 * characters.length);
  // One table of format 12: for each character a group of its own.
  for (const [index, value] of [0, 1, 3, 10].entries()) table.writeUInt16BE(value, index * 2);
  table.writeUInt32BE(12, 8);
  table.writeUInt16BE(12, 12);
  table.writeUInt32BE(table.length - 12, 16);
  table.writeUInt32BE(characters.length, 24);
  const codes = characters.map((character) => character.codePointAt(0) as number).sort((a, b) => a - b);
  for (const [index, code] of codes.entries())
    for (const [part, value] of [code, code, GLYPH_OF_A + index].entries())
      table.writeUInt32BE(value, 28 + 12 * index + 4 * part);
  font.writeUInt32BE(table.length, entry + 12);
  table.copy(font, font.readUInt32BE(entry + 8));
  return font;
}
/** In Noto Sans. */
const GLYPH_OF_A = 36;

test('the same facts give the same bytes, in another renderer too', async () => {
  const other = new Renderer();
  try {
    for (const draw of [
      (by: Renderer) => documentPdf({ renderer: by, institution }, 'pi', payment),
      (by: Renderer) => documentPdf({ renderer: by, institution }, 'tr', trade),
      (by: Renderer) => statementPdf(by, exampleStatement(), institution),
    ]) {
      const first = await draw(renderer);
      await documentPdf({ renderer: other, institution: { ...institution, logo: undefined } }, 'pr', payment);
      assert.ok(first.equals(await draw(renderer)));
      assert.ok(first.equals(await draw(other)));
    }
  } finally {
    await other.stop();
  }
});

test('the example files are what is drawn today (UPDATE_EXAMPLES=1 writes them anew)', async () => {
  const examples: [string, Buffer][] = [
    ['payment-instruction.pdf', await documentPdf({ renderer, institution }, 'pi', payment)],
    ['payment-receipt.pdf', await documentPdf({ renderer, institution }, 'pr', payment)],
    ['trade-receipt.pdf', await documentPdf({ renderer, institution }, 'tr', trade)],
    ['account-statement.pdf', await statementPdf(renderer, exampleStatement(), institution)],
  ];
  for (const [name, pdf] of examples) {
    const file = new URL(`../../docs/examples/${name}`, import.meta.url);
    if (process.env.UPDATE_EXAMPLES) writeFileSync(file, pdf);
    assert.ok(readFileSync(file).equals(pdf), `docs/examples/${name} differs from what is drawn`);
  }
});

describe('the renderer', () => {
  const task = { kind: 'draw' as const, template: 'document.typ', data: '{"not": "facts"}', tagged: true };
  const reason = (expected: string) => (error: unknown) => error instanceof RenderError && error.reason === expected;

  test('says what the template found wrong, and goes on', async () => {
    await assert.rejects(
      renderer.draw(task),
      (error) => reason('failed')(error) && /institution/.test((error as Error).message),
    );
    assert.ok((await documentPdf({ renderer, institution }, 'pi', payment)).length > 10_000);
  });

  test('replaces a thread that ends, failing only its job', async () => {
    const own = new Renderer({ size: 1 });
    const started = once(process, 'worker');
    const lost = assert.rejects(documentPdf({ renderer: own, institution }, 'pi', payment), reason('crashed'));
    const next = documentPdf({ renderer: own, institution }, 'pi', payment);
    const [thread] = (await started) as [Worker];
    await Promise.all([lost, thread.terminate()]);
    assert.ok((await next).length > 10_000);
    await own.stop();
  });

  test('a thread that cannot start fails its jobs one by one and does not loop', async () => {
    const own = new Renderer({ size: 1, fontDirectories: ['/nowhere/at/all'] });
    await assert.rejects(documentPdf({ renderer: own, institution }, 'pi', payment), reason('crashed'));
    await assert.rejects(documentPdf({ renderer: own, institution }, 'pi', payment), reason('crashed'));
    await own.stop();
  });

  test('gives up a drawing at its deadline', async () => {
    const own = new Renderer({ drawingLimitMs: 1 });
    await assert.rejects(documentPdf({ renderer: own, institution }, 'pi', payment), reason('timeout'));
    await own.stop();
  });

  test('what has waited for too long is drawn by a thread of ordinary rights too', async (t) => {
    let threads = 0;
    const count = () => {
      threads += 1;
    };
    process.on('worker', count);
    t.after(() => void process.off('worker', count));
    const own = new Renderer({ size: 1, urgentAfterMs: 1 });
    const drawn = await Promise.all(
      Array.from({ length: 6 }, () => documentPdf({ renderer: own, institution }, 'pi', payment)),
    );
    assert.ok(drawn.every((pdf) => pdf.equals(drawn[0]!)));
    assert.equal(threads, 2, 'one thread of each kind');
    await own.stop();
  });

  test('refuses more than may wait, and everything after stop', async () => {
    const own = new Renderer({ size: 1 });
    const all = Array.from({ length: MAX_WAITING_DRAWINGS + 2 }, () =>
      own.draw(task).then(
        () => 'drawn',
        (error: RenderError) => error.reason,
      ),
    );
    assert.equal(await all.at(-1), 'busy');
    await own.stop();
    const reasons = await Promise.all(all);
    assert.ok(reasons.includes('stopped') && !reasons.includes('drawn'));
    await assert.rejects(own.draw(task), reason('stopped'));
  });
});

test('a logo is SVG or PNG, and small', () => {
  assert.throws(() => logoFrom(Buffer.from('GIF89a')), /neither SVG nor PNG/);
  assert.throws(() => logoFrom(Buffer.alloc(1_048_577)), /more than/);
});
