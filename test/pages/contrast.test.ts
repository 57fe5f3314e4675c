import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { brandColours, contrast } from '../../src/http/page/contrast.ts';

/** The institution's colour, on whatever it stands (WCAG 2.2, 1.4.3 and 1.4.11). */

const READABLE = 4.5;
const SEEN = 3;
const LIGHT = ['#ffffff', '#f3f4f6', '#e9ecf0'];
const DARK = ['#1b1f24', '#101317', '#2a3037'] as const;

describe('contrast', () => {
  for (const [a, b, ratio] of [
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#000000', 21],
    ['#777777', '#ffffff', 4.48],
    ['#767676', '#ffffff', 4.54],
    ['#14532d', '#14532d', 1],
  ] as const)
    test(`${a} on ${b}: ${ratio}`, () => assert.equal(Math.round(contrast(a, b) * 100) / 100, ratio));
});

describe('the colours of a brand', () => {
  for (const [colour, edgeOnLight, onBrand, brandOnDark, onBrandOnDark, accentOnLight, accentOnDark] of [
    ['#14532d', '#14532d', '#ffffff', '#3a764d', '#ffffff', '#14532d', '#6aa67b'],
    ['#ffff00', '#666600', '#000000', '#ffff00', '#000000', '#666600', '#ffff00'],
    ['#ffffff', '#666666', '#000000', '#ffffff', '#000000', '#666666', '#ffffff'],
    ['#000000', '#000000', '#ffffff', '#696969', '#ffffff', '#000000', '#989898'],
    ['#0055ff', '#0055ff', '#ffffff', '#105cfb', '#ffffff', '#0055ff', '#6496f9'],
  ] as const)
    test(`${colour}: ${onBrand} on it; ${accentOnLight} on light grounds, ${accentOnDark} on dark ones`, () => {
      const brand = { brand: colour, edgeOnLight, onBrand, brandOnDark, onBrandOnDark, accentOnLight, accentOnDark };
      assert.deepEqual(brandColours(colour), brand);
    });

  test('every colour becomes readable', () => {
    const colours = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
    fc.assert(
      fc.property(colours, (colour) => {
        const { brand, edgeOnLight, onBrand, brandOnDark, onBrandOnDark, accentOnLight, accentOnDark } =
          brandColours(colour);
        assert.ok(contrast(brand, onBrand) >= READABLE);
        assert.ok(contrast(brandOnDark, onBrandOnDark) >= READABLE);
        assert.ok(contrast(brandOnDark, DARK[0]) >= SEEN, 'a button is seen on a dark card');
        for (const ground of LIGHT) assert.ok(contrast(edgeOnLight, ground) >= SEEN, `a button is seen on ${ground}`);
        for (const ground of LIGHT) assert.ok(contrast(accentOnLight, ground) >= READABLE, ground);
        for (const ground of DARK) assert.ok(contrast(accentOnDark, ground) >= READABLE, ground);
      }),
    );
  });

  test('the grounds are those of the style sheet', () => {
    const tokens = readFileSync(new URL('../../pages/design/tokens.css', import.meta.url), 'utf8');
    for (const [index, name] of ['card', 'page', 'soft'].entries())
      assert.ok(tokens.includes(`--${name}: light-dark(${LIGHT[index]}, ${DARK[index]});`), name);
  });
});
