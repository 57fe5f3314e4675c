import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The version that the chart is rendered for. */
const KUBERNETES = '1.31.0';

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));

/** Why a tool cannot be run here; false if it can. */
function lacks(command: string, ...args: string[]): string | false {
  const { status } = spawnSync(command, args, { stdio: 'ignore' });
  return status === 0 ? false : `${[command, ...args].slice(0, 2).join(' ')} is not installed`;
}

/** Runs a tool. It must end well. */
function run(command: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: deploy, encoding: 'utf8' });
  assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout + stderr;
}

describe('what an institution deploys with', () => {
  test('alerts are well formed, and go off when they should', { skip: lacks('promtool', '--version') }, () => {
    run('promtool', ['check', 'rules', 'prometheus/alerts.yaml']);
    run('promtool', ['test', 'rules', 'prometheus/alerts.test.yaml']);
  });

  test('systemd takes the units', { skip: lacks('systemd-analyze', '--version') }, () => {
    const { stdout, stderr } = spawnSync(
      'systemd-analyze',
      ['verify', '--man=no', ...['lombard@api.service', 'lombard-migrate.service'].map((unit) => `systemd/${unit}`)],
      { cwd: deploy, encoding: 'utf8', env: { ...process.env, SYSTEMD_UNIT_PATH: `${deploy}systemd:` } },
    );
    // The program itself is not installed on this machine.
    const faults = `${stdout}${stderr}`
      .split('\n')
      .filter((line) => line.includes('lombard') && !line.includes('/opt/'));
    assert.deepEqual(faults, []);
  });

  test('compose takes its file', { skip: lacks('docker', 'compose', 'version') }, () => {
    run('docker', ['compose', '-f', 'compose.yaml', 'config', '--quiet']);
  });

  const settings = ['API_URL=https://api.example.com', 'AUTH_URL=https://auth.example.com', 'MAIL_FROM=a@example.com']
    .map((setting) => `settings.LOMBARD_${setting}`)
    .join(',');
  const all = 'roles.trusted.enabled=true,trustedSecretName=tls,serviceMonitor.enabled=true';
  const render = () =>
    run('helm', ['template', 'bank', 'helm', '--kube-version', KUBERNETES, '--set', `${settings},${all}`]);

  test('hadolint finds nothing in the Dockerfile', { skip: lacks('hadolint', '--version') }, () => {
    run('hadolint', ['Dockerfile']);
  });

  test('helm takes the chart, and renders a deployment for each role', { skip: lacks('helm', 'version') }, () => {
    run('helm', ['lint', '--strict', 'helm', '--set', settings]);
    const rendered = render();
    const kinds = [...rendered.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind);
    const count = (kind: string) => kinds.filter((each) => each === kind).length;
    assert.deepEqual(
      ['Deployment', 'PodDisruptionBudget', 'Service', 'Job', 'ServiceMonitor'].map(count),
      [5, 5, 5, 1, 1],
    );
    for (const role of ['api', 'auth', 'trusted', 'operator', 'worker'])
      assert.match(rendered, new RegExp(`name: LOMBARD_ROLES, value: ${role} `));
  });

  test('kubeconform takes what helm renders', { skip: lacks('helm', 'version') || lacks('kubeconform', '-v') }, (t) => {
    const args = ['-strict', '-summary', '-ignore-missing-schemas', '-kubernetes-version', KUBERNETES, '-'];
    const { status, stdout } = spawnSync('kubeconform', args, { input: render(), encoding: 'utf8' });
    if (stdout.includes('failed downloading schema') || stdout.includes('Valid: 0, Invalid: 0, Errors: 0'))
      return t.skip('the schemas of Kubernetes cannot be downloaded here');
    assert.equal(status, 0, stdout);
    // A service monitor is no part of Kubernetes.
    assert.match(stdout, /Valid: 16, Invalid: 0, Errors: 0, Skipped: 1/);
  });

  test('helm writes settings as the service reads them', { skip: lacks('helm', 'version') }, () => {
    const values = `settings: { LOMBARD_API_RATE: 1000000, LOMBARD_SINGLE_SIGN_ON: yes, LOMBARD_PROXIES: '', LOMBARD_BRAND: 'A "B"' }
roles: { api: { settings: { LOMBARD_POOL: 16 } } }`;
    const args = ['template', 'bank', 'helm', '--kube-version', KUBERNETES, '--set', settings, '--values', '-'];
    const { stdout, stderr } = spawnSync('helm', args, { cwd: deploy, input: values, encoding: 'utf8' });
    const written = (name: string) =>
      [...stdout.matchAll(new RegExp(`name: ${name}, value: (.*) }`, 'g'))].map(([, value]) => value);
    assert.deepEqual(
      ['LOMBARD_API_RATE', 'LOMBARD_SINGLE_SIGN_ON', 'LOMBARD_BRAND'].map((name) => [...new Set(written(name))]),
      [['"1000000"'], ['"yes"'], ['"A \\"B\\""']],
      stderr,
    );
    assert.deepEqual([written('LOMBARD_PROXIES'), written('LOMBARD_POOL')], [[], ['"16"']]);
  });

  test('the chart installs the version of the program', () => {
    const { version } = JSON.parse(readFileSync(`${deploy}../package.json`, 'utf8'));
    assert.match(readFileSync(`${deploy}helm/Chart.yaml`, 'utf8'), new RegExp(`^appVersion: ${version}$`, 'm'));
  });

  test('helm names a required setting that is missing', { skip: lacks('helm', 'version') }, () => {
    const { status, stderr } = spawnSync('helm', ['template', 'bank', 'helm', '--kube-version', KUBERNETES], {
      cwd: deploy,
      encoding: 'utf8',
    });
    assert.notEqual(status, 0);
    assert.match(stderr, /settings\.LOMBARD_API_URL is required/);
  });
});
