import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { loadRevocationLists } from '../../certificates/revocation-list.ts';
import { checkTrustedFiles } from '../../http/trusted/files.ts';
import type { Config } from '../../settings/config.ts';
import { codeOf, messageOf } from '../../values/unknown.ts';
import { count, type Finding, failed, ok, warning } from './finding.ts';

const DAY_MS = 86_400_000;
const MIN_DAYS_LEFT = 30;
const CONNECT_TIMEOUT_MS = 5_000;
const HTTPS_PORT = 443;
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Checks the files of the trusted listener, and the certificates at the public addresses. @param now the machine's time, which TLS uses */
export async function checkCertificates(config: Config, now: Date): Promise<Finding[]> {
  const wrong = await checkTrustedFiles(config).then(
    () => undefined,
    (error: Error) => failed('certificates', error.message),
  );
  if (wrong) return [wrong];
  const findings = [
    ...trustedFiles(config).flatMap((file) => checkFile(file, config, now)),
    ...(await checkLists(config, now)),
  ];
  if (config.environment === 'production') findings.push(...(await checkPublic(config, now)));
  return findings.length > 0 ? findings : [ok('certificates', 'none is configured')];
}

interface CertificateFile {
  /** The variable, or a description of the file. */
  name: string;
  path: string;
  /** Whether it is the listener's own certificate. */
  server: boolean;
}

/** The configured files. In a sandbox without any, those of its own test authority. */
function trustedFiles({ trustedCert, trustedCa, dataDir, environment }: Config): CertificateFile[] {
  if (trustedCert) {
    const authorities = trustedCa.map((path) => ({ name: 'LOMBARD_TRUSTED_CA', path, server: false }));
    return [{ name: 'LOMBARD_TRUSTED_CERT', path: trustedCert, server: true }, ...authorities];
  }
  if (environment === 'production')
    return trustedCa.map((path) => ({ name: 'LOMBARD_TRUSTED_CA', path, server: false }));
  return ['ca.pem', 'server.pem']
    .map((name) => ({ name: "the sandbox's test CA", path: join(dataDir, 'tls', name), server: false }))
    .filter(({ path }) => existsSync(path));
}

function checkFile({ name, path, server }: CertificateFile, { trustedUrl }: Config, now: Date): Finding[] {
  const certificates = (readFileSync(path, 'utf8').match(BLOCK) ?? []).map((pem) => new X509Certificate(pem));
  const findings = certificates.map((one) => checkDates(`${name} (${path})`, one, now));
  const [own] = certificates;
  if (server && own && trustedUrl !== undefined) {
    const host = new URL(trustedUrl).hostname.replace(/^\[|\]$/g, '');
    const names = isIP(host) === 0 ? own.checkHost(host) : own.checkIP(host);
    if (names === undefined)
      findings.push(
        failed('certificates', `${name} is not for ${host}, the host of LOMBARD_TRUSTED_URL: get one for that name`),
      );
  }
  return findings;
}

function checkDates(what: string, certificate: X509Certificate, now: Date): Finding {
  const end = new Date(certificate.validTo);
  const days = Math.floor((end.getTime() - now.getTime()) / DAY_MS);
  const day = end.toISOString().slice(0, 10);
  if (days < 0) return failed('certificates', `${what} ended on ${day}: replace it, and restart the service`);
  if (new Date(certificate.validFrom) > now)
    return failed('certificates', `${what} begins on ${certificate.validFrom}: check the clock, or use another one`);
  if (days < MIN_DAYS_LEFT)
    return warning('certificates', `${what} ends on ${day}, in ${count(days, 'day')}: replace it before`);
  return ok('certificates', `${what} is good until ${day}`);
}

/** A revocation list whose next update has passed is not used. Then every certificate of its authority is refused. */
async function checkLists({ trustedCrl }: Config, now: Date): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const path of trustedCrl)
    for (const { nextUpdate, issuer } of await loadRevocationLists(readFileSync(path, 'utf8')))
      findings.push(
        nextUpdate < now
          ? failed(
              'revocation lists',
              `that of ${issuer} in ${path} ended on ${nextUpdate.toISOString()}: fetch the next one`,
            )
          : ok('revocation lists', `that of ${issuer} is good until ${nextUpdate.toISOString()}`),
      );
  return findings;
}

/** Checks what callers see at the public https addresses, wherever TLS ends. */
async function checkPublic(config: Config, now: Date): Promise<Finding[]> {
  const addresses = [
    ['LOMBARD_API_URL', config.apiUrl],
    ['LOMBARD_AUTH_URL', config.authUrl],
  ] as const;
  const https = addresses.flatMap(([variable, url]) => (url?.startsWith('https:') ? [{ variable, url }] : []));
  return Promise.all(
    https.map(async ({ variable, url }) => {
      try {
        return checkDates(`${variable} (${url})`, await presentedAt(new URL(url)), now);
      } catch (error) {
        const why = codeOf(error) ?? messageOf(error);
        return warning(
          'public addresses',
          `${variable}: ${url} does not answer from here (${why}): check DNS, proxy and firewall`,
        );
      }
    }),
  );
}

/** The certificate of a host. It is only read; its trust is not checked, because that is up to the callers. */
function presentedAt({ hostname, port }: URL): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...{ host: hostname, servername: hostname, port: Number(port || HTTPS_PORT) },
      rejectUnauthorized: false,
      timeout: CONNECT_TIMEOUT_MS,
    });
    socket.once('secureConnect', () => {
      const presented = socket.getPeerX509Certificate();
      socket.destroy();
      if (presented) resolve(presented);
      else reject(new Error('it presents no certificate'));
    });
    socket.once('timeout', () => socket.destroy(new Error('no answer within 5 s')));
    socket.once('error', reject);
  });
}
