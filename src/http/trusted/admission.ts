import type { Authority } from '../../certificates/authority.ts';
import { type Accepted, type Verdict, validateCertificate } from '../../certificates/validation.ts';
import { inTime } from '../../process/deadline.ts';
import type { Logger } from '../../process/log.ts';
import { BoundedMap } from '../../values/bounded-map.ts';
import { type Clock, monotonic } from '../../values/calendar.ts';
import type { Peer } from '../server/peer.ts';
import type { Refusal } from './refusal.ts';

/** Milliseconds for which a registered subject continues to count as registered. */
const REGISTRATION_CACHE_MS = 1_000;
/** Milliseconds that the look-up of a subject may take, so that callers get a 502 within three seconds. */
const REGISTRATION_TIMEOUT_MS = 2_500;
const MAX_CACHED_SUBJECTS = 10_000;

export interface AdmissionOptions {
  clock: Clock;
  log: Logger;
  /** Whether a subject DN in its canonical spelling is registered for an application. It is called about once a second for each subject in use. */
  isRegistered(canonicalSubject: string): Promise<boolean>;
}

/** An accepted certificate, with what is needed to validate it again. */
export interface Admitted {
  presented: Uint8Array[];
  verdict: Accepted;
  peer: Peer;
}

/** Decides who may use the trusted address: the holder of a valid certificate whose subject is registered now. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #registered = new BoundedMap<string, number>(MAX_CACHED_SUBJECTS);
  #authority: Authority;

  constructor(authority: Authority, options: AdmissionOptions) {
    this.#authority = authority;
    this.#options = options;
  }

  /** Replaces the authority. Every certificate must be admitted again. */
  replace(authority: Authority): void {
    this.#authority = authority;
    this.#registered.clear();
  }

  validate(presented: Uint8Array[]): Verdict {
    return validateCertificate(presented, this.#authority, this.#options.clock.now());
  }

  /** @param presented DER, the caller's certificate first; empty if there was none */
  async admit(presented: Uint8Array[]): Promise<Admitted | Refusal> {
    if (presented.length === 0)
      return {
        code: 'certificate_missing',
        details: 'certificate: a client certificate issued by an authority is required',
      };
    const authority = this.#authority;
    const verdict = this.validate(presented);
    if (!verdict.ok) {
      this.#options.log.info({ reason: verdict.reason }, 'client certificate refused');
      return { code: 'certificate_invalid', details: verdict.details };
    }
    const refusal = await this.#checkRegistration(verdict);
    if (refusal) return refusal;
    // If the files were reloaded during the look-up, the verdict is obsolete.
    if (authority !== this.#authority) return this.admit(presented);
    const { subject, canonicalSubject, thumbprint } = verdict;
    return { presented, verdict, peer: { subject, canonicalSubject, thumbprint } };
  }

  /** Whether an admitted certificate may be used without further checks: it is within its dates, and its registration was just checked. */
  isCurrent({ verdict }: Admitted): boolean {
    const now = this.#options.clock.now();
    const seen = this.#registered.get(verdict.canonicalSubject);
    return (
      now >= verdict.from && now < verdict.until && seen !== undefined && monotonic() - seen < REGISTRATION_CACHE_MS
    );
  }

  async #checkRegistration({ subject, canonicalSubject }: Accepted): Promise<Refusal | undefined> {
    const seen = this.#registered.get(canonicalSubject);
    if (seen !== undefined && monotonic() - seen < REGISTRATION_CACHE_MS) return undefined;
    try {
      const known = await inTime(
        this.#options.isRegistered(canonicalSubject),
        REGISTRATION_TIMEOUT_MS,
        () => new Error('the look-up took too long'),
      );
      if (!known) {
        this.#registered.delete(canonicalSubject);
        this.#options.log.info({ reason: 'not_registered' }, 'client certificate refused');
        return { code: 'certificate_invalid', details: `certificate: its subject "${subject}" is not registered` };
      }
    } catch (error) {
      this.#options.log.error({ err: error }, 'the registration of a certificate could not be looked up');
      return { code: 'integration_error', details: 'certificate: its registration could not be looked up' };
    }
    this.#registered.set(canonicalSubject, monotonic());
    return undefined;
  }
}
