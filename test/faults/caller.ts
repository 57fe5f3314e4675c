import type { Seeded } from '../../src/sandbox/demonstration/seeded.ts';
import { type Answer, APPLICATION } from '../world/service.ts';
import type { Known } from './known.ts';
import type { Entry, Ledger, Request } from './ledger.ts';
import type { Party } from './party.ts';
import { OPERATOR_TOKEN, type ServiceProcess } from './system.ts';

/** Share of the calls with an idempotency key that are asked again until they are answered. */
const INSISTING = 0.7;
/** Share of those of people who order that are sent twice at once each time. */
const HASTY = 0.5;

interface Ask extends Pick<Request, 'lines' | 'silent' | 'table' | 'marks'> {
  method?: string;
  path: string;
  body?: object;
}

/** Someone who does one thing for one party, at whichever process answers. */
export class Caller {
  readonly known: Known;
  readonly random: Seeded;
  readonly party: Party;

  constructor(known: Known, random: Seeded, party: Party) {
    this.known = known;
    this.random = random;
    this.party = party;
  }

  /** The same one, for another party. */
  of(party: Party): Caller {
    return new Caller(this.known, this.random, party);
  }

  get ledger(): Ledger {
    return this.known.ledger;
  }

  /** A process that answers requests. */
  front(): ServiceProcess {
    return this.random.pick(this.known.system.fronts);
  }

  /** As the core or the staff of the institution. */
  operator(what: string, { method = 'POST', path, ...rest }: Ask): Promise<Entry> {
    // A key works for POST; a PATCH sets what it sets, however often.
    const insist = method === 'POST' && this.random.next() < INSISTING;
    return this.ledger.ask({
      ...{ what, method, insist, token: OPERATOR_TOKEN, ...rest },
      url: () => `${this.front().operator}${path}`,
    });
  }

  /** As a person of the party, by the client API. The party stands in the address. */
  client(what: string, token: string, { method = 'POST', path, ...rest }: Ask): Promise<Entry> {
    return this.ledger.ask({
      ...{ what, method, insist: false, token, ...rest },
      url: () => `${this.front().api}${this.#ofParty(path)}`,
    });
  }

  /** As a person of the party who orders: under a key, and some insist, or cannot wait. */
  order(what: string, token: string, { path, ...rest }: Ask): Promise<Entry> {
    const insist = this.random.next() < INSISTING;
    const twice = insist && this.random.next() < HASTY;
    return this.ledger.ask({
      ...{ what, method: 'POST', insist, twice, token, ...rest },
      url: () => `${this.front().api}${this.#ofParty(path)}`,
    });
  }

  /** As a person of the party, by its browser. @param session the value of its cookie */
  page(what: string, session: string, { method = 'POST', path, ...rest }: Ask): Promise<Entry> {
    return this.ledger.ask({
      ...{ what, method, insist: false, ...rest },
      headers: { cookie: `lombard-app=${session}`, 'x-lombard-page': '1' },
      url: () => `${this.front().api}${this.#ofParty(path)}`,
    });
  }

  /** As a person of the institution, by the console. @param session the value of its cookie */
  console(what: string, session: string, { method = 'POST', path, ...rest }: Ask, reason = ''): Promise<Entry> {
    return this.ledger.ask({
      ...{ what, method, insist: false, ...rest },
      headers: {
        ...{ cookie: `lombard-console=${session}`, 'x-lombard-page': '1' },
        ...(reason && { 'x-reason': encodeURIComponent(reason) }),
      },
      url: () => `${this.front().operator}${path}`,
    });
  }

  /** By a form, at the authorization server: as the application that signs people in, or as a page of it. */
  authorization(
    what: string,
    path: string,
    form: Record<string, string>,
    { page = false, silent = true } = {},
  ): Promise<Entry> {
    const { auth } = this.front();
    const basic = Buffer.from(`${APPLICATION.client_id}:${this.known.clientSecret}`).toString('base64');
    const headers: Record<string, string> = page
      ? { origin: auth, 'sec-fetch-site': 'same-origin' }
      : { authorization: `Basic ${basic}`, 'no-redirect': 'application/json' };
    return this.ledger.ask({ what, method: 'POST', insist: false, silent, form, headers, url: () => `${auth}${path}` });
  }

  /** A mutation of the party's webhooks, by its owner. */
  graphql(what: string, query: string, variables: object): Promise<Entry> {
    return this.ledger.ask({
      ...{ what, method: 'POST', insist: false, token: this.party.token, body: { query, variables } },
      url: () => `${this.front().api}${this.#ofParty('/webhooks/graphql')}`,
      statusOf: statusOfGraphql,
    });
  }

  #ofParty(path: string): string {
    return `${path}${path.includes('?') ? '&' : '?'}client_id=${this.party.clientId}`;
  }
}

/** GraphQL answers 200 whatever happened. An error that is not the caller's leaves open what was done. */
function statusOfGraphql({ status, body }: Answer): number {
  const [error] = body?.errors ?? [];
  if (status !== 200 || !error) return status;
  return error.extensions?.code === undefined || error.extensions.code === 'integration_error' ? 502 : 400;
}
