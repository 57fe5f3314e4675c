import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { billOfMaterials } from '../../deploy/licences/bill-of-materials.ts';
import { notices } from '../../deploy/licences/notices.ts';
import { read, shippedPackages } from '../../deploy/licences/packages.ts';

/** Licences under which an institution may run and change the program without giving anything back but the notice. */
const PERMISSIVE = /^(?:MIT|MIT-0|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|Unlicense|MIT or MPL-2\.0)$/;

interface Component {
  purl: string;
  name: string;
  version: string;
  hashes?: { alg: string; content: string }[];
}

describe('what others wrote', () => {
  test('THIRD-PARTY-NOTICES is what npm run notices writes', () => {
    assert.equal(notices(), read('THIRD-PARTY-NOTICES'), 'run npm run notices');
  });

  test('each licence is permissive', () => {
    const others = shippedPackages().filter(({ licence }) => licence !== undefined && !PERMISSIVE.test(licence));
    assert.deepEqual(others, []);
  });

  test('the bill of materials names each dependency once, with its digest', () => {
    const { components } = billOfMaterials() as { components: Component[] };
    const urls = components.map(({ purl }) => purl);
    assert.equal(new Set(urls).size, urls.length);
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
      string,
      Record<string, string>
    >;
    for (const [name, version] of [...Object.entries(dependencies ?? {}), ['react', devDependencies?.react]])
      assert.ok(urls.includes(`pkg:npm/${name?.replace('@', '%40')}@${version}`), name);
    for (const { hashes = [], purl } of components)
      for (const { alg, content } of hashes) {
        assert.equal(alg, 'SHA-512', purl);
        assert.match(content, /^[0-9a-f]{128}$/, purl);
      }
  });

  test('what only builds and tests is no part of it', () => {
    const names = new Set(shippedPackages().map(({ name }) => name));
    for (const name of ['vite', 'typescript', 'playwright-core', 'axe-core', 'Haraka'])
      assert.ok(!names.has(name), name);
    for (const name of ['fastify', 'react-dom', '@tanstack/react-router']) assert.ok(names.has(name), name);
  });
});
