import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { createDatabase } from '../world/database.ts';
import { call, startTestService } from '../world/service.ts';

const repository = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, repository), 'utf8');

/** Names of metrics in a text; a histogram's parts count as the histogram. */
function metricNames(text: string): Set<string> {
  const names = text.match(/\b(?:lombard|nodejs|process)_[a-z0-9_]+\b/g) ?? [];
  return new Set(names.map((name) => name.replace(/_(bucket|count|sum)$/, '')));
}

/** Words of the pages that look like metrics and are roles of the database. */
const ROLES = new Set(['lombard_owner', 'lombard_service', 'lombard_client']);

describe('metrics', () => {
  let existing: Set<string>;
  before(async () => {
    const database = await createDatabase();
    const service = await startTestService({}, database);
    const { text } = await call(`${service.service.healthUrl}/metrics`, 'GET');
    existing = new Set(
      [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => (name as string).replace(/_(bucket|count|sum)$/, '')),
    );
    await service.stop();
  });

  const dashboards = readdirSync(new URL('deploy/grafana', repository)).map((name) => `deploy/grafana/${name}`);
  const pages = readdirSync(new URL('docs', repository))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);

  test('every metric that a dashboard, an alert or a page names exists', () => {
    const missing: string[] = [];
    for (const path of [...dashboards, 'deploy/prometheus/alerts.yaml', 'deploy/prometheus/alerts.test.yaml', ...pages])
      for (const name of metricNames(read(path)))
        if (!existing.has(name) && !ROLES.has(name)) missing.push(`${path}: ${name}`);
    assert.deepEqual(missing, []);
  });

  test('every metric of ours is on a dashboard', () => {
    const shown = new Set(dashboards.flatMap((path) => [...metricNames(read(path))]));
    assert.deepEqual(
      [...existing].filter((name) => name.startsWith('lombard_') && !shown.has(name)),
      [],
    );
  });

  test('every alert has a section of the runbook', () => {
    const runbook = read('docs/runbook.md');
    const alerts = [...read('deploy/prometheus/alerts.yaml').matchAll(/alert: (\w+)/g)].map(([, name]) => name);
    assert.ok(alerts.length > 10);
    assert.deepEqual(
      alerts.filter((name) => !runbook.includes(`\n## ${name}\n`)),
      [],
    );
    assert.deepEqual(
      [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name),
      alerts,
    );
  });
});
