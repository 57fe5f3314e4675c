import { X509Certificate } from 'node:crypto';
import { type Certificate, readCertificate } from './certificate.ts';
import { loadRevocationLists, type RevocationList } from './revocation-list.ts';

/** The trust anchors and lists with which certificates are validated. */
export interface Authority {
  /** Trust anchors (RFC 5280, section 6.1.1). */
  anchors: Certificate[];
  /** Revocation lists by issuer; undefined if revocation is not checked. */
  lists: Map<string, RevocationList[]> | undefined;
}

/**
 * Reads the trust anchors and lists with which certificates are validated.
 * @param ca PEM texts. Every certificate in them is trusted to issue. A path ends at a self-signed one, or at one whose own issuer is not
 * among them
 * @param crl PEM texts of revocation lists. Without any, revocation is not checked. Otherwise every authority of a path needs a current
 * list
 * @throws Error that says what is wrong with which text
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
