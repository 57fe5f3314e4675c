import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { pages, repository } from './pages.ts';

/** What a diagram shows: the text of each node, and each arrow with its label. */
interface Drawn {
  nodes: Record<string, string>;
  arrows: string[];
}

const arrow = (from: string, to: string, label = '') => `${from} --> ${to}${label && `: ${label}`}`;

/** Reads a state diagram or a flowchart in Mermaid, as far as these pages use it. */
function mermaid(text: string): Drawn {
  const nodes: Drawn['nodes'] = {};
  const arrows: string[] = [];
  const name = (written: string): string => {
    const [, id = '', label] = /^([\w*[\]]+?)(?:[[(]+(.*?)[\])]+)?$/.exec(written.trim()) ?? [];
    if (written.trim() === '[*]') return '[*]';
    if (label || !nodes[id]) nodes[id] = label ?? id;
    return id;
  };
  for (const line of text.split('\n')) {
    const [, label, id] = /^ {2}state "(.+)" as (\w+)$/.exec(line) ?? [];
    if (id) nodes[id] = label as string;
    const [, path, moves] = /^ {2}(.+ --> [^:]+)(?:: (.+))?$/.exec(line) ?? [];
    if (!path) continue;
    const stations = path.split(' --> ').map((station) => station.split(' & ').map(name));
    for (const [at, sources] of stations.slice(0, -1).entries())
      for (const from of sources) for (const to of stations[at + 1] ?? []) arrows.push(arrow(from, to, moves));
  }
  return { nodes, arrows };
}

/** Reads a picture: its nodes and arrows say what they are. */
function picture(text: string): Drawn & { labels: Set<string> } {
  const words = (inner = '') =>
    inner
      .replace(/<\/tspan>/g, ' ')
      .replace(/<[^>]+>/g, '')
      .trim();
  const nodes = [...text.matchAll(/<g data-node="([^"]+)">(.*?)<\/g>/g)].map(([, id = '', inner]) => [
    id,
    words(inner),
  ]);
  const arrows = [...text.matchAll(/<path data-from="([^"]+)" data-to="([^"]+)"(?: data-label="([^"]+)")?/g)];
  return {
    nodes: Object.fromEntries(nodes.filter(([id]) => id !== '[*]')),
    arrows: arrows.map(([, from = '', to = '', label]) => arrow(from, to, label)),
    labels: new Set([...text.matchAll(/<text class="label"[^>]*>([^<]*)</g)].map(([, label = '']) => label)),
  };
}

for (const { path, blocks } of pages())
  for (const block of blocks.filter(({ language }) => language === 'mermaid'))
    test(`the picture of ${path} shows what its diagram says`, () => {
      const name = basename(path, '.md').toLowerCase();
      const drawn = picture(readFileSync(`${repository}docs/diagrams/${name}.svg`, 'utf8'));
      const said = mermaid(block.text);
      assert.ok(said.arrows.length > 5);
      assert.deepEqual(drawn.nodes, said.nodes);
      assert.deepEqual(drawn.arrows.toSorted(), said.arrows.toSorted());
      assert.deepEqual(drawn.labels, new Set(said.arrows.flatMap((each) => each.split(': ')[1] ?? [])));
    });
