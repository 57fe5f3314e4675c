import type { Addresses } from '../../context.ts';
import type { Config } from '../../settings/config.ts';

/** The addresses that the pages are written with: those of a sandbox with the default ports. */
const WRITTEN = /\bhttps?:\/\/127\.0\.0\.1:(8080|8081|8443|8090|8091|3000)(?!\d)/g;

/**
 * A page with the addresses that are in use, so that its commands work as they are shown. Readers of production's pages are told public
 * addresses only.
 */
export function withAddresses(
  markdown: string,
  { api, auth, trusted, operator, health }: Addresses,
  { environment, samplePort }: Config,
): string {
  const sample = samplePort === undefined ? undefined : `http://127.0.0.1:${samplePort}`;
  const inside = environment === 'sandbox' ? { 8090: operator, 8091: health, 3000: sample } : {};
  const used: Record<string, string | undefined> = { 8080: api, 8081: auth, 8443: trusted, ...inside };
  return markdown.replace(WRITTEN, (written, port: string) => used[port] ?? written);
}
