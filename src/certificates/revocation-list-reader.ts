import {
  BitString,
  Boolean as BooleanBlock,
  Constructed,
  fromBER,
  GeneralizedTime,
  Integer,
  ObjectIdentifier,
  OctetString,
  Sequence,
  UTCTime,
} from 'asn1js';
import { blockOf, nameText } from './distinguished-name.ts';

/** A certificate revocation list (RFC 5280, section 5). */
export interface RevocationList {
  /** The issuer's name, in the form of `nameText`. */
  issuer: string;
  thisUpdate: Date;
  nextUpdate: Date;
  /** The certificates that it covers (issuing distribution point): all, only those of authorities, or only others. */
  scope: 'all' | 'authorities' | 'others';
  /** Addresses of its distribution point. A list with any address covers only certificates that name one of them. */
  points: string[];
  /** Serial numbers in capital hexadecimal without leading zeros. */
  serials: Set<string>;
  /** The signed bytes, their signature, and the digest of the signature, which is null for Ed25519 and Ed448. */
  signed: Uint8Array;
  signature: Uint8Array;
  digest: string | null;
}

/** By default asn1js refuses more than 10,000 elements. The size of the file is limited before it is read. */
const LIMITS = { maxNodes: 10_000_000, maxContentLength: 32 * 1024 * 1024 };

const NUMBER = '2.5.29.20';
const REASON = '2.5.29.21';
const ISSUING_DISTRIBUTION_POINT = '2.5.29.28';
const AUTHORITY_KEY = '2.5.29.35';

/** Signature algorithms and their digests. SHA-1 and older ones are not accepted. */
const DIGESTS = new Map<string, string | null>([
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.3.101.112', null],
  ['1.3.101.113', null],
]);

interface Extension {
  id: string;
  critical: boolean;
  value: Uint8Array;
}

/** Reads the `X509 CRL` blocks of a PEM text. @throws Error like `loadRevocationLists` */
export function readRevocationLists(pem: string): RevocationList[] {
  const blocks = [...pem.matchAll(/-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+)-----END X509 CRL-----/g)];
  return blocks.map((block) => readList(Buffer.from(block[1] ?? '', 'base64')));
}

function readList(der: Uint8Array): RevocationList {
  const [body, algorithm, signature] = sequence(fromBER(der, LIMITS).result);
  if (!(body instanceof Sequence) || !(signature instanceof BitString)) throw new Error('not a revocation list');
  const digest = DIGESTS.get(identifier(sequence(algorithm)[0]));
  if (digest === undefined)
    throw new Error('a revocation list must be signed with ECDSA, RSA (PKCS #1) or EdDSA, and at least SHA-256');
  const fields = sequence(body);
  if (fields[0] instanceof Integer) fields.shift();
  const [inner, issuer, thisUpdate, ...rest] = fields;
  if (identifier(sequence(inner)[0]) !== identifier(sequence(algorithm)[0]))
    throw new Error('a revocation list names two algorithms');
  const nextUpdate = rest[0] instanceof UTCTime || rest[0] instanceof GeneralizedTime ? rest.shift() : undefined;
  if (!nextUpdate) throw new Error('a revocation list must have nextUpdate');
  const entries = rest[0] instanceof Sequence ? sequence(rest.shift()) : [];
  const name = nameText(bytes(issuer));
  if (!name) throw new Error('a revocation list has no readable issuer');
  return {
    issuer: name,
    thisUpdate: instant(thisUpdate),
    nextUpdate: instant(nextUpdate),
    ...coverage(rest[0] instanceof Constructed ? extensions(rest[0].valueBlock.value[0]) : []),
    serials: new Set(entries.map(revokedSerial)),
    signed: Uint8Array.from(bytes(body)),
    signature: Uint8Array.from(signature.valueBlock.valueHexView),
    digest,
  };
}

/** A serial number in hexadecimal, in capitals and without leading zeros. */
export function serialText(hex: string): string {
  return hex.toUpperCase().replace(/^0+(?=.)/, '');
}

function revokedSerial(entry: unknown): string {
  const [serial, , found] = sequence(entry);
  if (!(serial instanceof Integer)) throw new Error('a revoked certificate has no serial number');
  // A critical certificateIssuer extension would mean that the entry concerns another authority's certificate.
  for (const extension of found ? extensions(found) : []) refuseUnknown(extension, [REASON]);
  return serialText(Buffer.from(serial.valueBlock.valueHexView).toString('hex'));
}

function coverage(found: Extension[]): Pick<RevocationList, 'scope' | 'points'> {
  for (const extension of found) refuseUnknown(extension, [NUMBER, AUTHORITY_KEY, ISSUING_DISTRIBUTION_POINT]);
  const point = found.find(({ id }) => id === ISSUING_DISTRIBUTION_POINT);
  if (!point) return { scope: 'all', points: [] };
  let scope: RevocationList['scope'] = 'all';
  const points: string[] = [];
  for (const part of sequence(fromBER(point.value).result)) {
    const { idBlock } = blockOf(part);
    const flag = bytes(part).at(-1) === 0xff;
    if (idBlock.tagNumber === 0) points.push(...addresses(part));
    else if (idBlock.tagNumber === 1 && flag) scope = 'others';
    else if (idBlock.tagNumber === 2 && flag) scope = 'authorities';
    else if (idBlock.tagNumber === 3 || flag)
      throw new Error(
        'a revocation list that is indirect, for some reasons only or for attribute certificates is not supported',
      );
  }
  return { scope, points };
}

/** The addresses (URI names) of a DistributionPointName that is a full name. */
function addresses(point: unknown): string[] {
  if (!(point instanceof Constructed)) return [];
  return point.valueBlock.value.flatMap((choice) => {
    if (!(choice instanceof Constructed) || choice.idBlock.tagNumber !== 0) {
      throw new Error('a distribution point relative to its issuer is not supported');
    }
    return choice.valueBlock.value
      .filter((name) => name.idBlock.tagNumber === 6)
      .map((name) =>
        Buffer.from(bytes(name).subarray(name.idBlock.blockLength + name.lenBlock.blockLength)).toString('latin1'),
      );
  });
}

function extensions(block: unknown): Extension[] {
  return sequence(block).map((extension) => {
    const [id, ...rest] = sequence(extension);
    const value = rest.pop();
    if (!(value instanceof OctetString)) throw new Error('an extension without a value');
    const [flag] = rest;
    const critical = flag instanceof BooleanBlock && flag.valueBlock.value;
    if (flag && !(flag instanceof BooleanBlock)) throw new Error('an extension that is not readable');
    return { id: identifier(id), critical, value: value.valueBlock.valueHexView };
  });
}

function refuseUnknown({ id, critical }: Extension, known: string[]): void {
  if (critical && !known.includes(id))
    throw new Error(`a revocation list has the critical extension ${id}, which is not supported`);
}

function sequence(block: unknown): unknown[] {
  if (!(block instanceof Sequence)) throw new Error('not a revocation list');
  return [...block.valueBlock.value];
}

function identifier(block: unknown): string {
  if (!(block instanceof ObjectIdentifier)) throw new Error('not a revocation list');
  return block.valueBlock.toString();
}

function instant(block: unknown): Date {
  // In asn1js GeneralizedTime extends UTCTime, so one test covers both.
  if (!(block instanceof UTCTime)) throw new Error('a revocation list without a date');
  return block.toDate();
}

function bytes(block: unknown): Uint8Array {
  return blockOf(block).valueBeforeDecodeView;
}
