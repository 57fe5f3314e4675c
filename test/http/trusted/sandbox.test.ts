import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { validateCertificate } from '../../../src/certificates/validation.ts';
import { testAuthority } from '../../../src/embedded/test-authority.ts';
import { SANDBOX_CLIENT_SUBJECT } from '../../../src/embedded/test-subject.ts';
import { loadTrustedAuthority } from '../../../src/http/trusted/files.ts';

const directory = await mkdtemp(join(tmpdir(), 'lombard-sandbox-'));
after(() => rm(directory, { recursive: true, force: true }));
const now = new Date();
const YEAR = 365 * 86_400_000;

test('the first start makes certificates that OpenSSL and the judge accept', async () => {
  const paths = await testAuthority(join(directory, 'one'), now);
  const verify = (...args: string[]) =>
    execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', paths.ca, ...args]).toString();
  assert.match(verify('-purpose', 'sslclient', '-crl_check', '-CRLfile', paths.crl, paths.clientCert), /OK/);
  for (const host of ['-verify_hostname=localhost', '-verify_ip=127.0.0.1', '-verify_ip=::1'])
    assert.match(verify('-purpose', 'sslserver', ...host.split('='), paths.cert), /OK/);
  const client = new X509Certificate(await readFile(paths.clientCert));
  const verdict = validateCertificate(
    [client.raw],
    await loadTrustedAuthority({ ca: [paths.ca], crl: [paths.crl] }),
    now,
  );
  assert.ok(verdict.ok);
  assert.equal(verdict.subject, SANDBOX_CLIENT_SUBJECT);
  for (const key of [paths.key, paths.clientKey, paths.caKey]) assert.equal((await stat(key)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(join(directory, 'one')), ['tls'], 'nothing is left beside');
});

test('later starts keep them; expired, broken or incomplete ones are made anew, whole', async () => {
  const data = join(directory, 'two');
  const paths = await testAuthority(data, now);
  const contents = () => Promise.all(Object.values(paths).map((path) => readFile(path, 'utf8')));
  const first = await contents();
  await testAuthority(data, new Date(now.getTime() + 9 * YEAR));
  assert.deepEqual(await contents(), first);
  await testAuthority(data, new Date(now.getTime() + 11 * YEAR));
  const second = await contents();
  for (const [index, text] of second.entries()) assert.notEqual(text, first[index]);
  for (const spoil of [() => rm(paths.crl), () => writeFile(paths.clientCert, 'cut of'), () => rm(paths.caKey)]) {
    const before = await readFile(paths.ca, 'utf8');
    await spoil();
    await testAuthority(data, now);
    assert.notEqual(await readFile(paths.ca, 'utf8'), before);
    new X509Certificate(await readFile(paths.clientCert));
  }
});

test('processes that start at once agree on one authority', async () => {
  const data = join(directory, 'three');
  const made = await Promise.all(Array.from({ length: 12 }, () => testAuthority(data, now)));
  const paths = made[0]!;
  const authority = await loadTrustedAuthority({ ca: [paths.ca], crl: [paths.crl] });
  assert.ok(validateCertificate([new X509Certificate(await readFile(paths.clientCert)).raw], authority, now).ok);
  assert.deepEqual(await readdir(data), ['tls']);
});
