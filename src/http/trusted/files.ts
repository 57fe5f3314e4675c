import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { SecureContextOptions } from 'node:tls';
import { type Authority, loadAuthority } from '../../certificates/authority.ts';
import { loadRevocationLists } from '../../certificates/revocation-list.ts';
import type { Config } from '../../settings/config.ts';
import { StartupError } from '../../values/errors.ts';
import { messageOf } from '../../values/unknown.ts';

/** Paths of PEM files. `ca` and `crl` may contain several blocks each; `cert` may contain intermediate certificates. */
export interface TrustedFiles {
  cert: string;
  key: string;
  ca: string[];
  crl: string[];
}

/** The cipher suites of the service interface, Mutual TLS. All of them belong to TLS 1.3. */
const CIPHER_SUITES = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

/** Reads the certificate and the key of the listener. @throws Error that names the file that cannot be used */
export async function loadSecureContext(files: Pick<TrustedFiles, 'cert' | 'key'>): Promise<SecureContextOptions> {
  const [cert, key] = await Promise.all([readPem(files.cert), readPem(files.key)]);
  return {
    cert,
    key,
    // OpenSSL gets no authorities. Otherwise it would validate certificates too, and reset the connection of a forged one.
    ca: [],
    minVersion: 'TLSv1.3',
    ciphers: CIPHER_SUITES,
    // Without tickets no session is resumed, so every connection presents its certificate.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** Reads the authorities and the revocation lists. @throws Error that names the file that cannot be used */
export async function loadTrustedAuthority(files: Pick<TrustedFiles, 'ca' | 'crl'>): Promise<Authority> {
  return loadAuthority(await Promise.all(files.ca.map(readPem)), await Promise.all(files.crl.map(readPem)));
}

/**
 * Reads the configured files as the listener will read them.
 * @throws StartupError that names the variable and the file
 */
export async function checkTrustedFiles(config: Config): Promise<void> {
  const { trustedCert: cert, trustedKey: key, trustedCa, trustedCrl } = config;
  if (cert && key) {
    const certificate = await readAs('LOMBARD_TRUSTED_CERT', cert, 'a PEM file with a certificate', (pem) => {
      return new X509Certificate(pem);
    });
    await readAs('LOMBARD_TRUSTED_KEY', key, 'a PEM file with the key of LOMBARD_TRUSTED_CERT', (pem) => {
      if (!certificate.checkPrivateKey(createPrivateKey(pem))) throw new Error('it is the key of another certificate');
    });
  }
  for (const path of trustedCa)
    await readAs('LOMBARD_TRUSTED_CA', path, 'PEM files with certificates', (pem) => loadAuthority([pem], []));
  for (const path of trustedCrl)
    await readAs('LOMBARD_TRUSTED_CRL', path, 'PEM files with revocation lists', async (pem) => {
      if ((await loadRevocationLists(pem)).length === 0) throw new Error('it has no list in it');
    });
}

async function readAs<T>(
  variable: string,
  path: string,
  must: string,
  read: (pem: string) => T | Promise<T>,
): Promise<T> {
  try {
    return await read(await readPem(path));
  } catch (error) {
    throw new StartupError(`${variable}: must be ${must}, not "${path}" (${messageOf(error)})`, {
      cause: error,
    });
  }
}

async function readPem(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  if (!text.includes('-----BEGIN ')) throw new Error(`${path} is not a PEM file`);
  return text;
}
