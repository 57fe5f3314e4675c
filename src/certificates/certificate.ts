import { type KeyObject, X509Certificate } from 'node:crypto';
import type { X509Certificate as CertificateDetails } from '@peculiar/x509';
import { late } from '../values/late.ts';
import { fieldsOf } from '../values/unknown.ts';
import { issuerOf, subjectOf } from './distinguished-name.ts';

const library = late((require) => {
  // The library finds its parts through the metadata of this polyfill.
  require('reflect-metadata');
  return require('@peculiar/x509') as typeof import('@peculiar/x509');
});

/** The parts of a certificate that validation needs, read once. A part that the certificate does not contain is undefined. */
export interface Certificate {
  der: Uint8Array;
  native: X509Certificate;
  /** 1 or 3. */
  version: number;
  subject: string;
  issuer: string;
  keyId: string | undefined;
  authorityKeyId: string | undefined;
  /** Basic constraints: whether it is an authority, and how many authorities may be below it. */
  authority: boolean;
  pathLength: number | undefined;
  /** Key usage: digital signatures, certificates, revocation lists. */
  maySign: boolean | undefined;
  mayIssue: boolean | undefined;
  maySignLists: boolean | undefined;
  /** Extended key usage. */
  purposes: string[] | undefined;
  /** Addresses of the revocation lists that cover it. */
  listPoints: string[];
  strongKey: boolean;
  strongSignature: boolean;
  /** The number of an extension that restricts the certificate in an unsupported way. */
  unsupported: string | undefined;
}

const NAME_CONSTRAINTS = '2.5.29.30';
/** Extensions that may be critical: those that are validated, and those that restrict nothing here. */
const UNDERSTOOD = new Set([
  '2.5.29.14',
  '2.5.29.15',
  '2.5.29.17',
  '2.5.29.18',
  '2.5.29.19',
  '2.5.29.31',
  '2.5.29.32',
  '2.5.29.35',
  '2.5.29.37',
]);
const MIN_RSA_BITS = 2048;
const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const DIGESTS = new Set(['SHA-256', 'SHA-384', 'SHA-512']);

/** Reads a certificate from DER. @throws Error if it is malformed, repeats an extension or has a negative serial number */
export function readCertificate(der: Uint8Array): Certificate {
  const x509 = library();
  const native = new X509Certificate(der);
  const details = new x509.X509Certificate(Uint8Array.from(der));
  const [subject, issuer] = [subjectOf(der), issuerOf(der)];
  if (subject === undefined || issuer === undefined) throw new Error('a name cannot be read');
  if (native.serialNumber.startsWith('-')) throw new Error('a serial number must be positive');
  const { extensions } = details;
  if (new Set(extensions.map(({ type }) => type)).size !== extensions.length)
    throw new Error('an extension occurs twice');
  const basic = details.getExtension(x509.BasicConstraintsExtension);
  const usages = details.getExtension(x509.KeyUsagesExtension)?.usages;
  const may = (flag: number) => (usages === undefined ? undefined : (usages & flag) !== 0);
  return {
    der,
    native,
    version: extensions.length ? 3 : 1,
    subject,
    issuer,
    keyId: details.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId,
    authorityKeyId: details.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId,
    authority: basic?.ca ?? false,
    pathLength: basic?.pathLength,
    maySign: may(x509.KeyUsageFlags.digitalSignature),
    mayIssue: may(x509.KeyUsageFlags.keyCertSign),
    maySignLists: may(x509.KeyUsageFlags.cRLSign),
    purposes: details.getExtension(x509.ExtendedKeyUsageExtension)?.usages.map(String),
    listPoints: listPoints(details),
    strongKey: strongKey(native.publicKey),
    strongSignature: strongSignature(details),
    unsupported: extensions.find(
      ({ type, critical }) => type === NAME_CONSTRAINTS || (critical && !UNDERSTOOD.has(type)),
    )?.type,
  };
}

function listPoints(details: CertificateDetails): string[] {
  const points = details.getExtension(library().CRLDistributionPointsExtension)?.distributionPoints ?? [];
  return points
    .filter((point) => !point.reasons && !point.cRLIssuer)
    .flatMap((point) => point.distributionPoint?.fullName ?? [])
    .flatMap((name) => name.uniformResourceIdentifier ?? []);
}

function strongKey(key: KeyObject): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa' || type === 'rsa-pss') return (details?.modulusLength ?? 0) >= MIN_RSA_BITS;
  if (type === 'ec') return CURVES.has(details?.namedCurve ?? '');
  return type === 'ed25519' || type === 'ed448';
}

function strongSignature(details: CertificateDetails): boolean {
  const { name, hash } = fieldsOf(details.signatureAlgorithm);
  return /^Ed(25519|448|DSA)$/.test(String(name)) || DIGESTS.has(String(fieldsOf(hash).name));
}
