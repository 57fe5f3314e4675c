import { accessToken } from '../world/access-token.ts';
import { createWorld } from '../world/client.ts';
import type { Receiver } from '../world/receivers/receiver.ts';
import { call, type TestService } from '../world/service.ts';
import { OPERATOR_TOKEN, type ServiceProcess, type System } from './system.ts';

/** How the payments of each party are approved; `ruleset`: by a configuration that the party replaces all the time. */
export const WORKFLOWS = ['simple', '4-eyes', '6-eyes', 'ruleset'] as const;
const TOKEN_SECONDS = 90 * 86_400;
/** Nothing else is booked in it: a client has one account in each currency. */
export const ORDERED_CURRENCY = 'NOK';
/** What the parties' receivers hear of. */
const NOTIFIED = ['PAYMENT_STATUS_CHANGE', 'MASS_PAYMENT_STATUS_CHANGE', 'MASS_BENEFICIARY_STATUS_CHANGE'];
/** Euros for one of it. */
const ORDERED_RATE = 0.5;
/** Everything that a person can be allowed to order. */
const ORDERING = ['can_create_payments', 'can_manage_multipayments', 'can_manage_beneficiaries', 'can_trade'];

/** A client with its people, and what the callers know of it. */
export interface Party {
  clientId: string;
  contactId: string;
  workflow: (typeof WORKFLOWS)[number];
  base: Record<string, unknown>;
  accountId: number;
  subscriptionId: string;
  approvers: { id: string; token: string }[];
  token: string;
  beneficiaries: string[];
  trades: string[];
  multipayments: string[];
  orders: Orders;
}

/** Who orders, from which account and for whom, and what was ordered. */
interface Orders {
  /** Two people: what both order at the same moment must not be done twice. */
  tokens: [string, string];
  accountId: number;
  beneficiaryId: string;
  /** Payments that the core has not sent. */
  made: { id: string; amount: number }[];
  /** Trades that the core has not ended. */
  trades: string[];
  /** Trades of the institution that can be drawn down. */
  forwards: string[];
  files: string[];
}

/**
 * Creates a client with four approvers and an account.
 * @param receiver gets its notifications; undefined: it has no subscription
 */
export async function makeParty(
  system: System,
  receiver: Receiver | undefined,
  { workflow, ...client }: { workflow: Party['workflow']; approval_step_up?: boolean },
): Promise<Party> {
  const front = system.fronts[0] as ServiceProcess;
  const operator = (method: string, path: string, body?: unknown) =>
    call(`${front.operator}${path}`, method, { body, token: OPERATOR_TOKEN });
  const service = { operator, query: (text: string, values?: unknown[]) => system.query(text, values) } as TestService;
  const world = await createWorld(service, `Client of ${workflow}`, {
    payment_approvals_enabled: workflow !== 'simple',
    authorisation_workflow: workflow === 'ruleset' ? 'simple' : workflow,
    ...client,
  });
  const approvers: Party['approvers'] = [];
  for (const name of ['Ann', 'Bob', 'Cid', 'Dee']) {
    const { contactId } = await world.hire(name);
    approvers.push({ id: contactId, token: await accessToken(service, contactId, TOKEN_SECONDS) });
  }
  const open = async (currency: string) =>
    (await operator('POST', '/currency-accounts', { client_id: world.clientId, currency })).body.account_id;
  const paid = await operator('POST', '/beneficiaries', {
    ...{ client_id: world.clientId, beneficiary_name: 'Fjord AS', iban: 'NO9386011117947', currency: ORDERED_CURRENCY },
  });
  const hireOrderer = async (name: string) =>
    accessToken(service, (await world.hire(name, {}, ORDERING)).contactId, TOKEN_SECONDS);
  const { clientId, contactId, beneficiaryId, tradeId, base } = world;
  const token = await accessToken(service, contactId, TOKEN_SECONDS);
  const subscriptionId = receiver ? await subscribe(front, { clientId, token }, receiver) : '';
  return {
    ...{ clientId, contactId, workflow, base, approvers, subscriptionId, token },
    accountId: await open('EUR'),
    beneficiaries: [beneficiaryId],
    trades: [tradeId],
    multipayments: [],
    orders: {
      tokens: [await hireOrderer('Eve'), await hireOrderer('Fay')],
      accountId: await open(ORDERED_CURRENCY),
      beneficiaryId: paid.body.beneficiary_id,
      ...{ made: [], trades: [], forwards: [], files: [] },
    },
  };
}

/** Clients can exchange what they order in. */
export async function openMarkets(system: System): Promise<void> {
  const put = async (path: string, body: object) => {
    const { status } = await call(`${system.fronts[0]?.operator}${path}`, 'PUT', { token: OPERATOR_TOKEN, body });
    if (status !== 200) throw new Error(`PUT ${path} is answered ${status}`);
  };
  await put('/exchange-rates', { base_currency: ORDERED_CURRENCY, rates: { EUR: ORDERED_RATE } });
  await put('/fx-availability', { mode: 'open' });
}

/** By the owner, as every client does it. @returns its id */
async function subscribe(
  { api }: ServiceProcess,
  { clientId, token }: { clientId: string; token: string },
  receiver: Receiver,
): Promise<string> {
  const query =
    'mutation ($subscription: SubscriptionInput!) { createSubscription(input: {subscription: $subscription}) { subscription { id } } }';
  const url = receiver.url(`/${clientId}`);
  const subscription = { url, types: NOTIFIED, active: true, secret: 'secret' };
  const { body, text } = await call(`${api}/webhooks/graphql?client_id=${clientId}`, 'POST', {
    ...{ token, body: { query, variables: { subscription } } },
  });
  if (body?.errors) throw new Error(text);
  return body.data.createSubscription.subscription.id;
}
