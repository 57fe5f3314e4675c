import Big from 'big.js';
import { type Db, type Transaction, together } from '../database/database.ts';
import { type Quote, quoteBetween } from '../exchange/exchange-rates.ts';
import { type AuthorisationWorkflow, EYES } from '../identity/people/client.ts';
import { pairKey } from '../identity/people/tenant.ts';
import { BoundedMap } from '../values/bounded-map.ts';
import { sha256 } from '../values/crypto.ts';
import { Problem, refusalOf } from '../values/errors.ts';
import { type ConfigurationInForce, configurationsInForce } from './configuration.ts';
import { shareLock } from './lock.ts';
import { type ApprovalRules, rulesFor } from './rules/rules.ts';
import { type Configuration, governingRule } from './rules/ruleset.ts';

/** What a payment requires, frozen when it is created (docs/decisions.md, 4). */
export interface Requirement {
  /** The contact who created the payment. */
  creator: string;
  /**
   * Whether the creation counts as an approval, if the creator is in a group that the rule names. This is so if the client lets creators
   * approve, and the creator was permitted to authorise payments when it created this one. With `own`: whether the creator had given its
   * second factor already, for the file that the payment comes from.
   */
  creation_counts: boolean;
  /** Distinct approvers other than the creator, 1 to 4. */
  eyes?: number;
  ruleset?: RulesetRequirement;
  /**
   * Whether the creator alone approves it, with a second factor. This is so if the client uses one, and nobody else would have to approve
   * the payment.
   */
  own?: true;
}

export interface RulesetRequirement {
  /** The configuration: its unique id, and its number at the client. */
  configuration: string;
  version: number;
  /** Index into the rules of that configuration. */
  rule: number;
  minimum_threshold: string;
  currency: string;
  /** The value of one unit of the payment's currency in the ruleset's currency, and the payment's amount converted with it. */
  rate: string;
  amount: string;
}

/** Decimals of a converted amount in answers, rounded half even. The rule is chosen before rounding. */
const SHOWN_DECIMALS = 8;

/** The rule for an amount. */
interface Governed {
  /** The value of one unit of the amount's currency in the ruleset's currency. */
  rate: string;
  converted: string;
  /** The rule that applies; null if no threshold is low enough. */
  rule: number | null;
}

/** An amount in the ruleset's currency, and the rule that applies to it. @throws Problem exchange_rate_missing */
export async function govern(
  db: Db,
  { ruleset }: Configuration,
  { amount, currency }: { amount: string; currency: string },
): Promise<Governed> {
  return governed(ruleset, await quoteBetween(db, currency, ruleset.currency), amount);
}

function governed(ruleset: Configuration['ruleset'], quote: Quote, amount: string): Governed {
  const exact = quote.convert(amount);
  const converted = new Big(exact).round(SHOWN_DECIMALS, Big.roundHalfEven).toFixed();
  return { rate: quote.rate, converted, rule: governingRule(ruleset, exact) };
}

/** The parts of a new payment that its approval depends on. The amount is a decimal string in the payment's currency. */
export interface WantedRequirement {
  clientId: string;
  creatorId: string;
  amount: string;
  currency: string;
}

/** What a single new payment requires; see `requirementsFor`. @throws Problem exchange_rate_missing */
export async function requirementFor(tx: Transaction, payment: WantedRequirement): Promise<Requirement | null> {
  const [requirement = null] = await requirementsFor(tx, [payment]);
  if (requirement instanceof Problem) throw requirement;
  return requirement;
}

/**
 * What new payments require. That is nothing while approvals are off, else what the client's ruleset says, and without a ruleset the
 * client's eyes. Permissions do not change until the transaction ends (lock.ts).
 * @returns for each payment: null if no approval is needed; a Problem (exchange_rate_missing) if it cannot be determined
 */
export async function requirementsFor(
  tx: Transaction,
  payments: readonly WantedRequirement[],
): Promise<(Requirement | null | Problem)[]> {
  return payments.length === 0 ? [] : requirementsBy(tx, await readRules(tx, payments), payments);
}

/** What determines the approvals of new payments, whatever their amount. */
export interface RulesInForce {
  creators: Map<string, Creator>;
  configurations: Map<string, ConfigurationInForce>;
}

/** Reads the rules, and keeps them unchanged until the transaction ends. @param payments at least one */
export async function readRules(
  tx: Transaction,
  payments: readonly Pick<WantedRequirement, 'clientId' | 'creatorId'>[],
): Promise<RulesInForce> {
  const clients = [...new Set(payments.map(({ clientId }) => clientId))];
  // All locks in one call. If they were taken payment by payment, two imports could deadlock.
  await shareLock(tx, ...clients);
  const [creators, configurations] = await together([findCreators(tx, payments), configurationsInForce(tx, clients)]);
  return { creators, configurations };
}

/** Like `requirementsFor`, with rules that were read before. */
export async function requirementsBy(
  tx: Transaction,
  { creators, configurations }: RulesInForce,
  payments: readonly WantedRequirement[],
): Promise<(Requirement | null | Problem)[]> {
  const quotes = new Map<string, Quote | Problem>();
  const requirements: (Requirement | null | Problem)[] = [];
  for (const payment of payments) {
    const { clientId, creatorId, currency } = payment;
    const creator = creators.get(pairKey(clientId, creatorId));
    const configuration = configurations.get(clientId);
    if (!creator?.enabled) requirements.push(null);
    else if (!configuration) requirements.push(byEyes(creator));
    else {
      const pair = `${currency} ${configuration.ruleset.currency}`;
      const quote =
        quotes.get(pair) ?? (await quoteBetween(tx, currency, configuration.ruleset.currency).catch(refusalOf));
      quotes.set(pair, quote);
      requirements.push(quote instanceof Problem ? quote : byRules(creator, configuration, quote, payment.amount));
    }
  }
  return requirements;
}

function frozen({ contact_id: creator, creation }: Creator): Requirement {
  return { creator, creation_counts: creation };
}

function byEyes(creator: Creator): Requirement | null {
  const eyes = EYES[creator.workflow];
  return eyes === 0 ? null : { ...frozen(creator), eyes };
}

function byRules(
  creator: Creator,
  { id, version, ruleset }: ConfigurationInForce,
  quote: Quote,
  amount: string,
): Requirement | null {
  const { rate, converted, rule } = governed(ruleset, quote, amount);
  if (rule === null) return null;
  const { currency, rules } = ruleset;
  const threshold = rules[rule]?.minimum_threshold ?? '0';
  const governing = { rule, minimum_threshold: threshold, currency, rate, amount: converted };
  return { ...frozen(creator), ruleset: { configuration: id, version, ...governing } };
}

/** A contact who creates payments of a client, with the client's settings. */
interface Creator {
  client_id: string;
  contact_id: string;
  workflow: AuthorisationWorkflow;
  enabled: boolean;
  /** Whether the creation counts as an approval, if the creator is in a group that the rule names. */
  creation: boolean;
}

async function findCreators(
  tx: Transaction,
  payments: readonly Pick<WantedRequirement, 'clientId' | 'creatorId'>[],
): Promise<Map<string, Creator>> {
  const pairs = new Map(payments.map((each) => [pairKey(each.clientId, each.creatorId), each]));
  const wanted = [...pairs.values()];
  const { rows } = await tx.query<Creator & Record<string, unknown>>({
    name: 'requirement-creators',
    text: `select u.client_id, u.contact_id, k.authorisation_workflow as workflow, k.payment_approvals_enabled as enabled,
        k.payment_creator_approval_enabled and exists (select from contact_clients cc join contacts c using (contact_id)
          where cc.client_id = u.client_id and cc.contact_id = u.contact_id and cc.can_authorise_payments and c.status = 'enabled') as creation
      from unnest($1::text[], $2::text[]) as u(client_id, contact_id) join clients k on k.client_id = u.client_id`,
    values: [wanted.map(({ clientId }) => clientId), wanted.map(({ creatorId }) => creatorId)],
  });
  return new Map(rows.map((row) => [pairKey(row.client_id, row.contact_id), row]));
}

/** The number of configurations kept in memory. The largest has 5,000 users. A stored configuration never changes, so none expires. */
const MAX_CACHED_CONFIGURATIONS = 100;
const kept = new BoundedMap<string, { configuration: Configuration; rules: Map<number, ApprovalRules> }>(
  MAX_CACHED_CONFIGURATIONS,
);

/** The rules that a requirement refers to, with their groups and people. */
export async function rulesOf(db: Db, clientId: string, requirement: Requirement): Promise<ApprovalRules> {
  const { creator, eyes, ruleset, own } = requirement;
  if (own) return { kind: 'own', creator };
  if (!ruleset) return eyes ? { kind: 'eyes', approvers: eyes } : { kind: 'none' };
  let known = kept.get(ruleset.configuration);
  if (!known) {
    const { rows } = await db.query<{ configuration: Configuration }>(
      'select configuration from approval_configurations where client_id = $1 and id = $2',
      [clientId, ruleset.configuration],
    );
    if (!rows[0]) throw new Error(`the approvals configuration ${ruleset.configuration} is missing`);
    known = { configuration: rows[0].configuration, rules: new Map() };
    kept.set(ruleset.configuration, known);
  }
  let rules = known.rules.get(ruleset.rule);
  if (!rules) {
    const rule = known.configuration.ruleset.rules[ruleset.rule];
    rules = rule ? rulesFor(known.configuration, rule) : { kind: 'none' };
    known.rules.set(ruleset.rule, rules);
  }
  return rules;
}

/** The length of a state's hash in bytes. */
const STATE_BYTES = 16;

/**
 * A hash of everything that determines who may act on a payment, except the current permissions. Payments with the same state have the same
 * approvers. A creator that no group names does not matter.
 * @param approved the contacts other than the creator who approved, in any order
 */
export function stateOf(requirement: Requirement, rules: ApprovalRules, approved: readonly string[]): Buffer {
  const { creator, creation_counts: counts, ruleset } = requirement;
  const named = rules.kind !== 'levels' || rules.groups.some(({ members }) => members.includes(creator));
  const rule = ruleset ? [ruleset.configuration, ruleset.rule] : [rules.kind === 'eyes' ? rules.approvers : 0];
  const text = JSON.stringify([rule, named ? [creator, counts] : null, [...approved].sort()]);
  return sha256(text).subarray(0, STATE_BYTES);
}
