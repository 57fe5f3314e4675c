import 'reflect-metadata';
import { createPrivateKey, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import * as asn1 from 'asn1js';

/** Certificates of every kind for the tests of the trusted listener. */
const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
export const DAY = 86_400_000;

/** The library's own type for keys; Node's allows more usages. */
type KeyPair = x509.X509CertificateCreateSelfSignedParams['keys'];
export interface Holder {
  certificate: x509.X509Certificate;
  keys: KeyPair;
  chain: x509.X509Certificate[];
}
export interface Wish {
  subject: string;
  issuer?: Holder;
  from?: Date;
  until?: Date;
  ca?: boolean;
  pathLength?: number;
  usages?: number;
  purposes?: string[];
  serial?: string;
  more?: x509.Extension[];
  algorithm?: { name: string; namedCurve?: string; modulusLength?: number; publicExponent?: Uint8Array; hash?: string };
  signing?: { name: string; hash?: string };
}

let serials = 0x4000;

export async function issue(wish: Wish): Promise<Holder> {
  const keys = (await crypto.subtle.generateKey(wish.algorithm ?? P256, true, ['sign', 'verify'])) as KeyPair;
  const { issuer } = wish;
  const purposes = wish.purposes ?? [x509.ExtendedKeyUsage.clientAuth];
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: wish.serial ?? (serials++).toString(16),
    subject: wish.subject.split(',').reverse().join(','),
    issuer: issuer ? issuer.certificate.subjectName : wish.subject.split(',').reverse().join(','),
    notBefore: wish.from ?? new Date(Date.now() - DAY),
    notAfter: wish.until ?? new Date(Date.now() + 30 * DAY),
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    signingAlgorithm: wish.signing ?? { ...P256, ...(issuer?.keys ?? keys).privateKey.algorithm, hash: 'SHA-256' },
    extensions: wish.ca
      ? [
          new x509.BasicConstraintsExtension(true, wish.pathLength, true),
          new x509.KeyUsagesExtension(wish.usages ?? x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
          ...(wish.more ?? []),
        ]
      : [
          new x509.KeyUsagesExtension(wish.usages ?? x509.KeyUsageFlags.digitalSignature, true),
          ...(purposes.length ? [new x509.ExtendedKeyUsageExtension(purposes)] : []),
          ...(wish.more ?? []),
        ],
  });
  return {
    certificate,
    keys,
    chain:
      issuer?.chain.length || issuer?.certificate.issuer !== issuer?.certificate.subject
        ? [...(issuer ? [issuer.certificate] : []), ...(issuer?.chain ?? [])]
        : [],
  };
}

export async function revocationList(
  issuer: Holder,
  revoked: string[],
  dates: { from?: Date; until?: Date } = {},
): Promise<string> {
  const list = await x509.X509CrlGenerator.create({
    issuer: issuer.certificate.subjectName,
    thisUpdate: dates.from ?? new Date(Date.now() - DAY / 2),
    nextUpdate: dates.until ?? new Date(Date.now() + 10 * DAY),
    entries: revoked.map((serialNumber) => ({ serialNumber, revocationDate: new Date(), reason: 1 })),
    signingAlgorithm: { ...P256, ...issuer.keys.privateKey.algorithm, hash: 'SHA-256' },
    signingKey: issuer.keys.privateKey,
  });
  return pem(list.rawData, 'X509 CRL');
}

/** Like `revocationList`, for many serial numbers: the library's generator takes a millisecond for each. */
export async function longRevocationList(issuer: Holder, revoked: string[]): Promise<string> {
  const short = asn1.fromBER(
    Buffer.from((await revocationList(issuer, ['01'])).replace(/-----.*-----|\s/g, ''), 'base64'),
  ).result as asn1.Sequence;
  const [body, algorithm] = short.valueBlock.value as [asn1.Sequence, asn1.Sequence];
  const entry = (serial: string) =>
    new asn1.Sequence({
      value: [
        new asn1.Integer({ valueHex: new Uint8Array(Buffer.from(serial, 'hex')) }),
        new asn1.UTCTime({ valueDate: new Date() }),
      ],
    });
  const fields = body.valueBlock.value.map((field, index, all) =>
    index === all.length - 1 ? new asn1.Sequence({ value: revoked.map(entry) }) : field,
  );
  const signed = new asn1.Sequence({ value: fields });
  const key = createPrivateKey(await keyText(issuer));
  const signature = new asn1.BitString({ valueHex: new Uint8Array(sign('sha256', Buffer.from(signed.toBER()), key)) });
  return pem(new asn1.Sequence({ value: [signed, algorithm, signature] }).toBER(), 'X509 CRL');
}

/** The same certificate with one bit of its signature flipped. */
export function forged(holder: Holder): Holder {
  // A copy, so that the bytes of the certificate itself stay unchanged.
  const der = Uint8Array.from(new Uint8Array(holder.certificate.rawData));
  der[der.length - 1]! ^= 1;
  return { ...holder, certificate: new x509.X509Certificate(der) };
}

function pem(der: ArrayBuffer, label: string): string {
  return `${x509.PemConverter.encode(der, label)}\n`;
}

export function certificateText(...certificates: x509.X509Certificate[]): string {
  return certificates.map((certificate) => pem(certificate.rawData, 'CERTIFICATE')).join('');
}

export async function keyText(holder: Holder): Promise<string> {
  return pem(await crypto.subtle.exportKey('pkcs8', holder.keys.privateKey), 'PRIVATE KEY');
}

/** What a TLS client needs: the certificate with its intermediates, and the key. */
export async function credentials(holder: Holder): Promise<{ cert: string; key: string }> {
  return { cert: certificateText(holder.certificate, ...holder.chain), key: await keyText(holder) };
}

export async function folder(
  files: Record<string, string>,
): Promise<{ path(name: string): string; write(name: string, text: string): Promise<void>; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'lombard-trusted-'));
  const path = (name: string) => join(directory, name);
  const write = (name: string, text: string) => writeFile(path(name), text);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  return { path, write, remove: () => rm(directory, { recursive: true, force: true }) };
}

export const SERVER_PURPOSE = x509.ExtendedKeyUsage.serverAuth;
export const LOCALHOST = new x509.SubjectAlternativeNameExtension([
  { type: 'dns', value: 'localhost' },
  { type: 'ip', value: '127.0.0.1' },
]);

export { x509 };
