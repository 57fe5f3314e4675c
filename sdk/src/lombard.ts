import { Accounts } from './accounts.ts';
import { type Answer, Api, type Arguments, type CallOptions, type OperationName, type ResponseOf } from './api.ts';
import { Approvals } from './approvals.ts';
import { Balances } from './balances.ts';
import { Beneficiaries } from './beneficiaries.ts';
import { Documents } from './documents.ts';
import { Exchange } from './exchange.ts';
import { graphql } from './graphql.ts';
import { MassBeneficiaries } from './mass-beneficiaries.ts';
import { MassPayments } from './mass-payments.ts';
import { Multipayments } from './multipayments.ts';
import { PaymentInitiations } from './payment-initiations.ts';
import { Payments } from './payments.ts';
import { Quotes } from './quotes.ts';
import { Statements } from './statements.ts';
import { Subscriptions } from './subscriptions.ts';
import { type Application, type TokenSet, Tokens } from './tokens.ts';
import { Trades } from './trades.ts';
import { Transactions } from './transactions.ts';
import { Webhooks } from './webhooks.ts';

export interface LombardOptions {
  /** The address of the client API. */
  baseUrl: string | URL;
  /** The address of the authorization server, where tokens are refreshed. */
  authUrl?: string | URL;
  /** The client to act for: one of `clients` in the id_token. */
  clientId: string;
  accessToken?: string;
  /** Together with `authUrl` and `application`, it lets the SDK replace an expired access token. */
  refreshToken?: string;
  /** The application that the tokens were issued to. */
  application?: Application;
  /** Called with each new pair of tokens, and awaited: store them here. */
  onTokens?(tokens: TokenSet): unknown;
  /** Used in place of the global `fetch`: for a proxy, a client certificate, or tests. */
  fetch?: typeof fetch;
  /** The maximum number of retries of a request (README, What is repeated); the default is 2. */
  retries?: number;
  /** Milliseconds for each attempt, including the answer's body. The default is 30,000; `Infinity` means no limit. */
  timeout?: number;
}

const DEFAULT_RETRIES = 2;
const DEFAULT_TIMEOUT_MS = 30_000;

/** The client API of one client. */
export class Lombard {
  readonly payments: Payments;
  readonly beneficiaries: Beneficiaries;
  readonly accounts: Accounts;
  readonly balances: Balances;
  readonly transactions: Transactions;
  readonly quotes: Quotes;
  readonly trades: Trades;
  readonly statements: Statements;
  readonly documents: Documents;
  readonly approvals: Approvals;
  readonly multipayments: Multipayments;
  readonly massBeneficiaries: MassBeneficiaries;
  readonly massPayments: MassPayments;
  readonly paymentInitiations: PaymentInitiations;
  readonly subscriptions: Subscriptions;
  readonly webhooks: Webhooks;
  readonly #api: Api;

  /** @throws TypeError that names the missing or wrong option */
  constructor(options: LombardOptions) {
    const { clientId, retries = DEFAULT_RETRIES, timeout = DEFAULT_TIMEOUT_MS, accessToken, refreshToken } = options;
    const baseUrl = address('baseUrl', options.baseUrl);
    if (typeof clientId !== 'string' || clientId === '') throw new TypeError('clientId: must be the id of a client');
    if (!Number.isInteger(retries) || retries < 0) throw new TypeError('retries: must be a whole number from 0');
    if (typeof timeout !== 'number' || !(timeout > 0)) throw new TypeError('timeout: must be milliseconds above 0');
    if (refreshToken !== undefined && (options.authUrl === undefined || options.application === undefined))
      throw new TypeError('refreshToken: needs authUrl and application, where and as whom tokens are refreshed');
    // Looked up at each call, because the global fetch may be instrumented later.
    const exchange = new Exchange({
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      retries,
      timeoutMs: timeout,
    });
    const tokens = new Tokens(exchange, {
      accessToken,
      refreshToken,
      endpoint: options.authUrl === undefined ? undefined : tokenEndpoint(options.authUrl),
      application: options.application,
      onTokens: options.onTokens && ((set) => options.onTokens?.(set)),
    });
    this.#api = new Api(baseUrl, clientId, exchange, tokens);
    this.payments = new Payments(this.#api);
    this.beneficiaries = new Beneficiaries(this.#api);
    this.accounts = new Accounts(this.#api);
    this.balances = new Balances(this.#api);
    this.transactions = new Transactions(this.#api);
    this.quotes = new Quotes(this.#api);
    this.trades = new Trades(this.#api);
    this.statements = new Statements(this.#api);
    this.documents = new Documents(this.#api);
    this.approvals = new Approvals(this.#api);
    this.multipayments = new Multipayments(this.#api);
    this.massBeneficiaries = new MassBeneficiaries(this.#api);
    this.massPayments = new MassPayments(this.#api);
    this.paymentInitiations = new PaymentInitiations(this.#api);
    this.subscriptions = new Subscriptions(this.#api);
    this.webhooks = new Webhooks(this.#api);
  }

  /**
   * Any operation of the client API, typed from its description: `call('GET /accounts/{account_id}', { path: { account_id } })`. Use it to
   * read the headers of an answer, and for operations without their own method.
   * @throws LombardError, AbortError
   */
  call<K extends OperationName>(operation: K, ...[input]: Arguments<K>): Promise<Answer<ResponseOf<K>>> {
    return this.#api.call(operation, input ?? ({} as NonNullable<typeof input>));
  }

  /**
   * Sends a GraphQL document to the webhooks endpoint: subscriptions with the history of their notifications.
   * @returns the `data` of the answer
   * @throws LombardError for the first entry of `errors`; AbortError
   */
  graphql<T>(query: string, variables: Record<string, unknown> = {}, { signal }: CallOptions = {}): Promise<T> {
    return graphql<T>(this.#api, query, variables, { signal });
  }
}

function address(name: string, given: string | URL): URL {
  let url: URL | undefined;
  try {
    url = new URL(given);
  } catch {
    // Reported below, with the name of the option.
  }
  if (!url || !/^https?:$/.test(url.protocol)) throw new TypeError(`${name}: must be an http or https address`);
  url.search = '';
  url.hash = '';
  return url;
}

function tokenEndpoint(authUrl: string | URL): URL {
  const url = address('authUrl', authUrl);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/token`;
  return url;
}
