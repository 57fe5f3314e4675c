import { createHash } from 'node:crypto';
import type { Authority } from './authority.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { canonicalDistinguishedName } from './distinguished-name.ts';
import { type RevocationList, signedBy } from './revocation-list.ts';
import { serialText } from './revocation-list-reader.ts';

/** Why a certificate is refused, for the log. */
export type RefusalReason =
  | 'malformed'
  | 'self_signed'
  | 'unknown_authority'
  | 'bad_signature'
  | 'not_yet_valid'
  | 'expired'
  | 'wrong_purpose'
  | 'weak'
  | 'unsupported'
  | 'revoked'
  | 'revocation_unknown';

/** The period in which something is valid. The start is included, the end is not. */
interface Period {
  from: Date;
  until: Date;
}

/** A valid certificate. The verdict holds for the period in which the certificates of its path and the revocation lists are all valid. */
export interface Accepted extends Period {
  ok: true;
  /** RFC 4514, in the form of `subjectOf`. */
  subject: string;
  /** The subject in the spelling that is compared with registered names. */
  canonicalSubject: string;
  /** SHA-256 of the certificate, base64url: `x5t#S256` (RFC 8705, section 3.1). */
  thumbprint: string;
}

/** A refused certificate. `details` is for the caller. */
export interface Refused {
  ok: false;
  reason: RefusalReason;
  details: string;
}

export type Verdict = Accepted | Refused;

/** The most certificates of one path, including the caller's and the anchor. */
const MAX_PATH_CERTIFICATES = 8;
/** The most intermediate certificates that are accepted from a caller. Further ones are ignored. */
const MAX_INTERMEDIATES = 8;
/** The most signature checks of one validation, so that many certificates with the same name do not cost unlimited work. */
const MAX_SIGNATURE_CHECKS = 32;

/** The last instant that a Date can hold. */
const MAX_DATE_MS = 8.64e15;

/** Extended key usages (RFC 5280, section 4.2.1.12). */
const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2';
const ANY_PURPOSE = '2.5.29.37.0';

/**
 * Validates a client certificate: a path to a configured authority, and dates, purpose and revocation at every step (RFC 5280, section 6).
 * Critical name constraints and policies are not supported, so they are refused. A self-signed certificate is refused even if it is one of
 * the authorities (service interface, Mutual TLS).
 * @param presented DER: the certificate, then the other certificates that the caller sent
 */
export function validateCertificate(presented: Uint8Array[], authority: Authority, now: Date): Verdict {
  const [first, ...others] = presented;
  try {
    if (!first) throw new Refusal('malformed', 'it is missing');
    const leaf = readable(first);
    if (leaf.subject === '') throw new Refusal('malformed', 'its subject is empty');
    const canonicalSubject = canonicalDistinguishedName(leaf.subject);
    if (canonicalSubject === undefined) throw new Refusal('malformed', 'its subject is too long');
    if (leaf.issuer === leaf.subject)
      throw new Refusal('self_signed', 'it is self-signed; it must be issued by an authority');
    const intermediates = others.slice(0, MAX_INTERMEDIATES).flatMap((der) => {
      try {
        return [readCertificate(der)];
      } catch {
        return [];
      }
    });
    const search: Search = { authority, intermediates, now, checks: 0, failure: undefined };
    const period = { from: new Date(0), until: new Date(MAX_DATE_MS) };
    checkUsable(leaf, now, period);
    const found = findPath([leaf], search, period);
    if (!found)
      throw search.failure ?? new Refusal('unknown_authority', 'no authority that is trusted here has issued it');
    checkClient(leaf);
    return {
      ok: true,
      subject: leaf.subject,
      canonicalSubject,
      thumbprint: createHash('sha256').update(leaf.der).digest('base64url'),
      ...found,
    };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.reason, details: `certificate: ${error.message}` };
    throw error;
  }
}

class Refusal extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

interface Search {
  authority: Authority;
  intermediates: Certificate[];
  now: Date;
  /** The number of signature checks so far. */
  checks: number;
  /** The first failure. */
  failure: Refusal | undefined;
}

function readable(der: Uint8Array): Certificate {
  try {
    return readCertificate(der);
  } catch {
    throw new Refusal('malformed', 'it cannot be read');
  }
}

/** The last certificate comes first, the caller's at the end. */
type Path = [Certificate, ...Certificate[]];

/** Searches for a path to an anchor, depth first. A failure is kept and the search goes on, because another path may be valid. */
function findPath(path: Path, search: Search, period: Period): Period | undefined {
  const [last] = path;
  const { anchors } = search.authority;
  const isAnchor = path.length > 1 && anchors.includes(last);
  if (isAnchor && last.issuer === last.subject) return period;
  const issuers = [...anchors, ...search.intermediates].filter(
    (candidate) => !path.includes(candidate) && couldHaveIssued(candidate, last),
  );
  // A path ends at an authority whose own issuer is not configured. Otherwise the revocation of the authority itself is also checked.
  if (isAnchor && !issuers.some((issuer) => anchors.includes(issuer))) return period;
  if (path.length === MAX_PATH_CERTIFICATES) return undefined;
  for (const issuer of issuers) {
    if (search.checks++ >= MAX_SIGNATURE_CHECKS) return undefined;
    try {
      const remaining = { ...period };
      checkIssuer(issuer, path, { now: search.now, period: remaining });
      const found = findPath([issuer, ...path], search, remaining);
      if (!found) continue;
      // Checked last, because the revocation lists of untrusted authorities do not matter.
      checkRevocation(last, issuer, { search, period: found });
      return found;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      search.failure ??= error;
    }
  }
  return undefined;
}

function couldHaveIssued(issuer: Certificate, subject: Certificate): boolean {
  return (
    issuer.subject === subject.issuer &&
    (issuer.keyId === undefined || !subject.authorityKeyId || issuer.keyId === subject.authorityKeyId)
  );
}

function checkIssuer(issuer: Certificate, path: Path, { now, period }: { now: Date; period: Period }): void {
  const [last] = path;
  if (!last.strongSignature)
    throw new Refusal('weak', `${named(last)} is signed with an algorithm that is not accepted (SHA-256 or better is)`);
  let good = false;
  try {
    good = last.native.verify(issuer.native.publicKey);
  } catch {
    // A key of this kind cannot make the signature.
  }
  if (!good) throw new Refusal('bad_signature', `the signature of ${named(last)} is not its authority's`);
  checkUsable(issuer, now, period);
  // A self-signed version 1 certificate has no basic constraints. It is an authority because it is configured as one.
  const oldRoot = issuer.version === 1 && issuer.issuer === issuer.subject;
  if (!issuer.authority && !oldRoot) throw new Refusal('wrong_purpose', `${named(issuer)} is not an authority`);
  if (issuer.mayIssue === false) throw new Refusal('wrong_purpose', `${named(issuer)} may not issue certificates`);
  if (!forClients(issuer)) throw new Refusal('wrong_purpose', `${named(issuer)} may not issue client certificates`);
  const below = path.slice(0, -1).filter((step) => step.issuer !== step.subject).length;
  if (issuer.pathLength !== undefined && below > issuer.pathLength)
    throw new Refusal('wrong_purpose', `${named(issuer)} may not have authorities below it`);
}

function checkUsable(certificate: Certificate, now: Date, period: Period): void {
  const { native } = certificate;
  const [from, until] = [native.validFromDate, native.validToDate];
  if (certificate.unsupported)
    throw new Refusal(
      'unsupported',
      `${named(certificate)} has the extension ${certificate.unsupported}, which is not supported`,
    );
  if (!certificate.strongKey)
    throw new Refusal(
      'weak',
      `${named(certificate)} has a key that is too weak (RSA 2048, P-256 or Ed25519 and better are accepted)`,
    );
  if (now < from) throw new Refusal('not_yet_valid', `${named(certificate)} is valid from ${from.toISOString()}`);
  if (now > until) throw new Refusal('expired', `${named(certificate)} expired at ${until.toISOString()}`);
  narrow(period, from, until);
}

function checkClient(leaf: Certificate): void {
  if (!forClients(leaf)) throw new Refusal('wrong_purpose', 'it is not for client authentication (extended key usage)');
  if (leaf.maySign === false) throw new Refusal('wrong_purpose', 'its key is not for digital signatures (key usage)');
}

function forClients({ purposes }: Certificate): boolean {
  return purposes === undefined || purposes.includes(CLIENT_AUTHENTICATION) || purposes.includes(ANY_PURPOSE);
}

function checkRevocation(
  certificate: Certificate,
  issuer: Certificate,
  { search, period }: { search: Search; period: Period },
): void {
  const { authority, now } = search;
  if (!authority.lists) return;
  const list = (authority.lists.get(issuer.subject) ?? [])
    .filter((candidate) => covers(candidate, certificate) && candidate.thisUpdate <= now && now < candidate.nextUpdate)
    .filter((candidate) => issuer.maySignLists !== false && signedBy(candidate, issuer.native))
    .sort((a, b) => b.thisUpdate.getTime() - a.thisUpdate.getTime())[0];
  if (!list) throw new Refusal('revocation_unknown', `no current revocation list of ${named(issuer)} is configured`);
  if (list.serials.has(serialText(certificate.native.serialNumber)))
    throw new Refusal('revoked', `${named(certificate)} has been revoked`);
  narrow(period, list.thisUpdate, list.nextUpdate);
}

/** Whether a list covers a certificate, by its scope and by its distribution points if it has any. */
function covers(list: RevocationList, certificate: Certificate): boolean {
  if (list.scope !== 'all' && (list.scope === 'authorities') !== certificate.authority) return false;
  return list.points.length === 0 || list.points.some((point) => certificate.listPoints.includes(point));
}

function narrow(period: Period, from: Date, until: Date): void {
  if (from > period.from) period.from = from;
  if (until < period.until) period.until = until;
}

/** The name of a certificate for a message. The subject is the caller's own or that of a configured authority. */
function named(certificate: Certificate): string {
  return `"${certificate.subject}"`;
}
