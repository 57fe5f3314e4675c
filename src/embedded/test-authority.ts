import 'reflect-metadata';
import { randomBytes, X509Certificate } from 'node:crypto';
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import { keepOwner, makeDataDirectory } from '../settings/data-directory.ts';
import { codeOf, namesOf } from '../values/unknown.ts';
import { SANDBOX_CLIENT_SUBJECT } from './test-subject.ts';

/** Paths of the sandbox's certificates, all in PEM. The trusted listener is configured with the first four. */
export interface TestAuthority {
  cert: string;
  key: string;
  ca: string;
  crl: string;
  clientCert: string;
  clientKey: string;
  /** The authority's key, for issuing further test certificates. */
  caKey: string;
}

/** The library's own key type; Node's type allows more usages. */
type KeyPair = x509.X509CertificateCreateSelfSignedParams['keys'];

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const VALID_DAYS = 3_650;
/** Certificates are created again if fewer days than this are left. */
const MIN_DAYS = 1;
const DAY_MS = 86_400_000;

const FILES = {
  cert: 'server.pem',
  key: 'server-key.pem',
  ca: 'ca.pem',
  crl: 'crl.pem',
  clientCert: 'client.pem',
  clientKey: 'client-key.pem',
  caKey: 'ca-key.pem',
} satisfies TestAuthority;

/**
 * The sandbox's own certificates in `<dataDir>/tls`: an authority, a server certificate for this machine, a client certificate and an empty
 * revocation list. They are created at the first start and when they have expired. The folder appears complete or not at all, even if
 * several processes start at once.
 * @param now the machine's time, because clients check the server's certificate by their own clocks
 */
export async function testAuthority(dataDir: string, now: Date): Promise<TestAuthority> {
  const folder = join(dataDir, 'tls');
  const paths: TestAuthority = { ...FILES };
  for (const name of namesOf(FILES)) paths[name] = join(folder, FILES[name]);
  if (await usable(paths, now)) return paths;
  makeDataDirectory(dataDir);
  const fresh = await mkdtemp(join(dataDir, '.tls-'));
  const aside = `${fresh}-old`;
  try {
    keepOwner(fresh);
    const texts = await make(now);
    for (const name of namesOf(FILES)) {
      const path = join(fresh, FILES[name]);
      await writeFile(path, texts[name], { mode: name.toLowerCase().endsWith('key') ? 0o600 : 0o644 });
      keepOwner(path);
    }
    // Other programs on the machine may read the folder, for the authority and the certificates.
    await chmod(fresh, 0o755);
    if ((await moved(fresh, folder)) || (await usable(paths, now))) return paths;
    // The folder is not another process's new one: it has expired or is damaged.
    await moved(folder, aside);
    await moved(fresh, folder);
    return paths;
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(aside, { recursive: true, force: true });
  }
}

async function usable(paths: TestAuthority, now: Date): Promise<boolean> {
  const least = now.getTime() + MIN_DAYS * DAY_MS;
  try {
    const [cert, ca, client] = await Promise.all(
      [paths.cert, paths.ca, paths.clientCert].map(async (path) => new X509Certificate(await readFile(path))),
    );
    const list = new x509.X509Crl(await readFile(paths.crl, 'utf8'));
    await Promise.all([paths.key, paths.clientKey, paths.caKey].map((path) => readFile(path)));
    const ends = [cert, ca, client].map((certificate) => certificate?.validToDate.getTime() ?? 0);
    return Math.min(...ends, list.nextUpdate?.getTime() ?? 0) > least;
  } catch {
    // Missing, truncated or unreadable: everything is created again.
    return false;
  }
}

async function make(now: Date): Promise<TestAuthority> {
  const [caKeys, serverKeys, clientKeys] = await Promise.all([keys(), keys(), keys()]);
  // Valid from yesterday, for machines whose clocks differ.
  const dates = {
    notBefore: new Date(now.getTime() - DAY_MS),
    notAfter: new Date(now.getTime() + VALID_DAYS * DAY_MS),
  };
  const issuer = 'CN=Lombard Sandbox CA,O=Lombard Sandbox,C=GB';
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...dates,
    serialNumber: serial(),
    name: ordered(issuer),
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  });
  const issue = async (subject: string, publicKey: KeyPair['publicKey'], purpose: string, more: x509.Extension[]) =>
    x509.X509CertificateGenerator.create({
      ...dates,
      serialNumber: serial(),
      subject: ordered(subject),
      issuer: ca.subjectName,
      publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([purpose]),
        await x509.AuthorityKeyIdentifierExtension.create(caKeys.publicKey),
        ...more,
      ],
    });
  const names = new x509.SubjectAlternativeNameExtension([
    { type: 'dns', value: 'localhost' },
    { type: 'ip', value: '127.0.0.1' },
    { type: 'ip', value: '::1' },
  ]);
  const server = await issue(
    'CN=localhost,O=Lombard Sandbox,C=GB',
    serverKeys.publicKey,
    x509.ExtendedKeyUsage.serverAuth,
    [names],
  );
  const client = await issue(SANDBOX_CLIENT_SUBJECT, clientKeys.publicKey, x509.ExtendedKeyUsage.clientAuth, []);
  const list = await x509.X509CrlGenerator.create({
    issuer: ca.subjectName,
    thisUpdate: dates.notBefore,
    nextUpdate: dates.notAfter,
    signingKey: caKeys.privateKey,
    signingAlgorithm: ALGORITHM,
  });
  return {
    ca: pem(ca.rawData, 'CERTIFICATE'),
    caKey: await keyText(caKeys.privateKey),
    cert: pem(server.rawData, 'CERTIFICATE'),
    key: await keyText(serverKeys.privateKey),
    clientCert: pem(client.rawData, 'CERTIFICATE'),
    clientKey: await keyText(clientKeys.privateKey),
    crl: pem(list.rawData, 'X509 CRL'),
  };
}

/** RFC 4514 names the most specific part first. The library writes parts into the certificate in the given order. */
function ordered(subject: string): string {
  return subject.split(',').reverse().join(',');
}

function keys(): Promise<KeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

/** A positive number of 16 random bytes. */
function serial(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes.toString('hex');
}

async function keyText(key: KeyPair['privateKey']): Promise<string> {
  return pem(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

/** Encodes as PEM. The library's labels differ from OpenSSL's (`CRL` for `X509 CRL`), and its texts lack the final line end. */
function pem(der: ArrayBuffer, label: string): string {
  return `${x509.PemConverter.encode(der, label)}\n`;
}

/** Moves a folder. @returns false if the target contains files, or if another process has just moved the folder */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}
