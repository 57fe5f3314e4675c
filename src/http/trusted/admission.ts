import { BoundedMap } from '../../bounded-map.ts';
import { type Clock, monotonic } from '../../calendar.ts';
import { type Authority, judgeCertificate, type Verdict } from '../../certificates/certificate.ts';
import { inTime } from '../../deadline.ts';
import type { Logger } from '../../log.ts';
import type { Peer } from '../peer.ts';
import type { Refusal } from './refusal.ts';

/** Milliseconds for which a subject that was found registered counts as registered. */
const REGISTRATION_MEMORY_MS = 1_000;
/** Milliseconds that the look-up of a subject may take: callers get a 502 within three seconds. */
const REGISTRATION_PATIENCE_MS = 2_500;
/** Subjects that are remembered. */
const MAX_REMEMBERED_SUBJECTS = 10_000;

export interface AdmissionOptions {
  clock: Clock;
  log: Logger;
  /** Whether a subject DN, in its canonical spelling, is registered for an application; asked about once a second for each in use. */
  isRegistered(canonicalSubject: string): Promise<boolean>;
}

/** An accepted certificate, and what is needed to judge it again. */
export interface Admitted {
  presented: Uint8Array[];
  verdict: Extract<Verdict, { ok: true }>;
  peer: Peer;
}

/** Decides who gets in at the trusted address: a certificate that is good now, with a subject that is registered now. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #registered = new BoundedMap<string, number>(MAX_REMEMBERED_SUBJECTS);
  #authority: Authority;

  constructor(authority: Authority, options: AdmissionOptions) {
    this.#authority = authority;
    this.#options = options;
  }

  /** Takes another authority; every verdict given before must be asked for again. */
  replace(authority: Authority): void {
    this.#authority = authority;
    this.#registered.clear();
  }

  get authority(): Authority {
    return this.#authority;
  }

  judge(presented: Uint8Array[]): Verdict {
    return judgeCertificate(presented, this.#authority, this.#options.clock.now());
  }

  /** @param presented DER, the caller's certificate first; empty where there was none */
  async admit(presented: Uint8Array[]): Promise<Admitted | Refusal> {
    if (presented.length === 0)
      return {
        code: 'certificate_missing',
        details: 'certificate: a client certificate issued by an authority is needed',
      };
    const authority = this.#authority;
    const verdict = this.judge(presented);
    if (!verdict.ok) {
      this.#options.log.info({ reason: verdict.reason }, 'client certificate refused');
      return { code: 'certificate_invalid', details: verdict.details };
    }
    const refusal = await this.#register(verdict);
    if (refusal) return refusal;
    // A reload while the registration was looked up makes the verdict old.
    if (authority !== this.#authority) return this.admit(presented);
    const { subject, canonicalSubject, thumbprint } = verdict;
    return { presented, verdict, peer: { subject, canonicalSubject, thumbprint } };
  }

  /** Whether an admitted certificate is still good without asking anybody: in its dates, and seen as registered just now. */
  stillGood({ verdict }: Admitted): boolean {
    const now = this.#options.clock.now();
    const seen = this.#registered.get(verdict.canonicalSubject);
    return (
      now >= verdict.from && now < verdict.until && seen !== undefined && monotonic() - seen < REGISTRATION_MEMORY_MS
    );
  }

  async #register({ subject, canonicalSubject }: Admitted['verdict']): Promise<Refusal | undefined> {
    const seen = this.#registered.get(canonicalSubject);
    if (seen !== undefined && monotonic() - seen < REGISTRATION_MEMORY_MS) return undefined;
    try {
      const known = await inTime(
        this.#options.isRegistered(canonicalSubject),
        REGISTRATION_PATIENCE_MS,
        () => new Error('took too long'),
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
