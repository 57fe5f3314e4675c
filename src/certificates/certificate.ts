import { createHash, X509Certificate } from 'node:crypto';
import { canonicalDistinguishedName } from './distinguished-name.ts';
import { type Certificate, readCertificate } from './reader.ts';
import { loadRevocationLists, type RevocationList, signedBy } from './revocation-list.ts';
import { serialText } from './revocation-list-reader.ts';

/** Why a certificate is refused; logged and counted, the text beside it is for the caller. */
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

export type Verdict =
  | {
      ok: true;
      /** RFC 4514, as `subjectOf` writes it. */
      subject: string;
      /** The subject in the one spelling that registered names are compared in. */
      canonicalSubject: string;
      /** SHA-256 of the certificate, base64url: `x5t#S256` (RFC 8705, section 3.1). */
      thumbprint: string;
      /** The verdict holds from (inclusive) to (exclusive): dates of the chain and of its revocation lists. */
      from: Date;
      until: Date;
    }
  | { ok: false; reason: RefusalReason; details: string };

/** What certificates are judged against. `lists` is undefined where revocation is not checked. */
export interface Authority {
  anchors: Certificate[];
  lists: Map<string, RevocationList[]> | undefined;
}

/** Certificates of one chain, leaf and anchor included. */
const MAX_CHAIN = 8;
/** Certificates taken from a caller beside the first; more are ignored. */
const MAX_PRESENTED = 8;
/** Signature checks for one judgement: many certificates of one name must not cost unlimited work. */
const MAX_SIGNATURE_CHECKS = 32;

const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2';
const ANY_PURPOSE = '2.5.29.37.0';

/**
 * Makes what certificates are judged against.
 * @param ca PEM texts: every certificate in them is trusted to issue; a self-signed one is an end of chains, another one
 *   is where its own issuer is not among them
 * @param crl PEM texts of revocation lists. With none, revocation is not checked; with any, every authority of a chain
 *   needs a current one
 * @throws Error saying what is wrong with which text
 */
export async function loadAuthority(ca: string[], crl: string[]): Promise<Authority> {
  const anchors = ca.flatMap((pem) => {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length === 0) throw new Error('a file of authorities has no certificate in it');
    return blocks.map((block) => readCertificate(new X509Certificate(block).raw));
  });
  if (anchors.length === 0) throw new Error('no certificate authority is configured');
  if (crl.length === 0) return { anchors, lists: undefined };
  const lists = new Map<string, RevocationList[]>();
  for (const pem of crl) {
    const found = await loadRevocationLists(pem);
    if (found.length === 0) throw new Error('a file of revocation lists has no list in it');
    for (const list of found) lists.set(list.issuer, [...(lists.get(list.issuer) ?? []), list]);
  }
  return { anchors, lists };
}

/**
 * Judges a client certificate: chain to a configured authority, dates, purpose, revocation at every step (RFC 5280,
 * section 6, without name constraints and policies, whose critical forms are refused). Self-signed certificates are
 * refused even where they are among the authorities (the service interface, Mutual TLS).
 * @param presented DER: the certificate, then whatever else the caller sent
 */
export function judgeCertificate(presented: Uint8Array[], authority: Authority, now: Date): Verdict {
  const [first, ...others] = presented;
  try {
    if (!first) throw new Refusal('malformed', 'there is no certificate');
    const leaf = readable(first);
    if (leaf.subject === '') throw new Refusal('malformed', 'its subject is empty');
    const canonicalSubject = canonicalDistinguishedName(leaf.subject);
    if (canonicalSubject === undefined) throw new Refusal('malformed', 'its subject is too long');
    if (leaf.issuer === leaf.subject)
      throw new Refusal('self_signed', 'it is self-signed; one issued by an authority is needed');
    const helpers = others.slice(0, MAX_PRESENTED).flatMap((der) => {
      try {
        return [readCertificate(der)];
      } catch {
        return [];
      }
    });
    const search: Search = { authority, helpers, now, checks: 0, failure: undefined };
    const span = { from: new Date(0), until: new Date(8.64e15) };
    checkUsable(leaf, now, span);
    const found = climb([leaf], search, span);
    if (!found) throw search.failure ?? new Refusal('unknown_authority', 'no authority that is trusted here issued it');
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

interface Span {
  from: Date;
  until: Date;
}
interface Search {
  authority: Authority;
  helpers: Certificate[];
  now: Date;
  checks: number;
  failure: Refusal | undefined;
}

function readable(der: Uint8Array): Certificate {
  try {
    return readCertificate(der);
  } catch {
    throw new Refusal('malformed', 'it cannot be read');
  }
}

/** Looks for a way up to an anchor, depth first; remembers the first failure, for there may be another way. */
function climb(path: Certificate[], search: Search, span: Span): Span | undefined {
  const last = path.at(-1) as Certificate;
  const { anchors } = search.authority;
  const isAnchor = path.length > 1 && anchors.includes(last);
  if (isAnchor && last.issuer === last.subject) return span;
  const issuers = [...anchors, ...search.helpers].filter(
    (candidate) => !path.includes(candidate) && couldHaveIssued(candidate, last),
  );
  // A trusted authority whose own issuer is not configured is an end; where it is, the revocation above counts too.
  if (isAnchor && !issuers.some((issuer) => anchors.includes(issuer))) return span;
  if (path.length === MAX_CHAIN) return undefined;
  for (const issuer of issuers) {
    if (search.checks++ >= MAX_SIGNATURE_CHECKS) return undefined;
    try {
      const wider = { ...span };
      checkIssuer(issuer, path, search.now, wider);
      const found = climb([...path, issuer], search, wider);
      if (!found) continue;
      // Last, for whether a stranger's authority has a revocation list is of no interest to anybody.
      checkRevocation(last, issuer, search, found);
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

function checkIssuer(issuer: Certificate, path: Certificate[], now: Date, span: Span): void {
  const last = path.at(-1) as Certificate;
  if (!last.strongSignature)
    throw new Refusal('weak', `${named(last)} is signed with an algorithm that is not accepted (SHA-256 or better is)`);
  let good = false;
  try {
    good = last.native.verify(issuer.native.publicKey);
  } catch {
    // A key of a kind that cannot have made this signature.
  }
  if (!good) throw new Refusal('bad_signature', `the signature of ${named(last)} is not its authority's`);
  checkUsable(issuer, now, span);
  // A self-signed version 1 certificate can say nothing of itself; being configured says it.
  const oldRoot = issuer.version === 1 && issuer.issuer === issuer.subject;
  if (!issuer.authority && !oldRoot) throw new Refusal('wrong_purpose', `${named(issuer)} is not an authority`);
  if (issuer.mayIssue === false) throw new Refusal('wrong_purpose', `${named(issuer)} may not issue certificates`);
  if (!forClients(issuer)) throw new Refusal('wrong_purpose', `${named(issuer)} may not issue certificates of clients`);
  const below = path.slice(1).filter((step) => step.issuer !== step.subject).length;
  if (issuer.pathLength !== undefined && below > issuer.pathLength)
    throw new Refusal('wrong_purpose', `${named(issuer)} may not have authorities below it`);
}

function checkUsable(certificate: Certificate, now: Date, span: Span): void {
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
  if (now < from) throw new Refusal('not_yet_valid', `${named(certificate)} is valid from ${from.toISOString()} on`);
  if (now > until) throw new Refusal('expired', `${named(certificate)} expired at ${until.toISOString()}`);
  narrow(span, from, until);
}

function checkClient(leaf: Certificate): void {
  if (!forClients(leaf)) throw new Refusal('wrong_purpose', 'it is not for client authentication (extended key usage)');
  if (leaf.maySign === false) throw new Refusal('wrong_purpose', 'its key is not for digital signatures (key usage)');
}

function forClients({ purposes }: Certificate): boolean {
  return purposes === undefined || purposes.includes(CLIENT_AUTHENTICATION) || purposes.includes(ANY_PURPOSE);
}

function checkRevocation(certificate: Certificate, issuer: Certificate, { authority, now }: Search, span: Span): void {
  if (!authority.lists) return;
  const list = (authority.lists.get(issuer.subject) ?? [])
    .filter((candidate) => covers(candidate, certificate) && candidate.thisUpdate <= now && now < candidate.nextUpdate)
    .filter((candidate) => issuer.maySignLists !== false && signedBy(candidate, issuer.native))
    .sort((a, b) => b.thisUpdate.getTime() - a.thisUpdate.getTime())[0];
  if (!list) throw new Refusal('revocation_unknown', `there is no current revocation list of ${named(issuer)} here`);
  if (list.serials.has(serialText(certificate.native.serialNumber)))
    throw new Refusal('revoked', `${named(certificate)} has been revoked`);
  narrow(span, list.thisUpdate, list.nextUpdate);
}

function covers(list: RevocationList, certificate: Certificate): boolean {
  if (list.scope !== 'all' && (list.scope === 'authorities') !== certificate.authority) return false;
  return list.points.length === 0 || list.points.some((point) => certificate.listPoints.includes(point));
}

function narrow(span: Span, from: Date, until: Date): void {
  if (from > span.from) span.from = from;
  if (until < span.until) span.until = until;
}

/** How a message calls a certificate; the subject is the caller's own or a configured authority's. */
function named(certificate: Certificate): string {
  return `"${certificate.subject}"`;
}
