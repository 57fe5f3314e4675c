import Big from 'big.js';
import type { Db, Transaction } from '../database/database.ts';
import { quoteBetween } from '../exchange/exchange-rates.ts';
import { type AuthorisationWorkflow, EYES } from '../identity/people/client.ts';
import { BoundedMap } from '../values/bounded-map.ts';
import { sha256 } from '../values/crypto.ts';
import { configurationInForce } from './configuration.ts';
import { shareLock } from './lock.ts';
import { type ApprovalRules, rulesFor } from './rules/rules.ts';
import { type Configuration, governingRule } from './rules/ruleset.ts';

/** What a payment requires, frozen when it is created (docs/decisions.md, 4). */
export interface Requirement {
  /** The contact who created the payment. */
  creator: string;
  /**
   * Creation counts as an approval where the creator is in a group that the rule names: the client lets creators approve, and
   * the creator was permitted to authorise payments when it created this one.
   */
  creation_counts: boolean;
  /** Distinct approvers other than the creator, 1 to 4. */
  eyes?: number;
  ruleset?: RulesetRequirement;
}

export interface RulesetRequirement {
  /** Of the configuration: its unique id, and its number at the client. */
  configuration: string;
  version: number;
  /** Index into the rules of that configuration. */
  rule: number;
  minimum_threshold: string;
  currency: string;
  /** What one unit of the payment's currency is in the ruleset's currency, and the payment's amount converted with it. */
  rate: string;
  amount: string;
}

/** Decimals that a converted amount is shown with, rounded half even; what governs is decided before it is rounded. */
const SHOWN_DECIMALS = 8;

/** An amount in the ruleset's currency, and the rule that governs it (null: no threshold is that low). */
export async function govern(
  db: Db,
  { ruleset }: Configuration,
  { amount, currency }: { amount: string; currency: string },
): Promise<{ rate: string; converted: string; rule: number | null }> {
  const quote = await quoteBetween(db, currency, ruleset.currency);
  const exact = quote.convert(amount);
  const converted = new Big(exact).round(SHOWN_DECIMALS, Big.roundHalfEven).toFixed();
  return { rate: quote.rate, converted, rule: governingRule(ruleset, exact) };
}

/**
 * What a new payment requires: nothing while approvals are off; else what the client's ruleset says, and without one its eyes.
 * Permissions do not change until the transaction ends (lock.ts).
 * @param payment amount in its own currency, a decimal string
 * @returns null where no approval is needed
 * @throws Problem exchange_rate_missing
 */
export async function requirementFor(
  tx: Transaction,
  payment: { clientId: string; creatorId: string; amount: string; currency: string; now: Date },
): Promise<Requirement | null> {
  await shareLock(tx, payment.clientId);
  const { rows } = await tx.query<{ workflow: AuthorisationWorkflow; enabled: boolean; creation: boolean }>(
    `select authorisation_workflow as workflow, payment_approvals_enabled as enabled, payment_creator_approval_enabled and exists (
       select from contact_clients cc join contacts c using (contact_id)
       where cc.client_id = $1 and cc.contact_id = $2 and cc.can_authorise_payments and c.status = 'enabled') as creation
     from clients where client_id = $1`,
    [payment.clientId, payment.creatorId],
  );
  const client = rows[0];
  if (!client?.enabled) return null;
  const frozen = { creator: payment.creatorId, creation_counts: client.creation };
  const configuration = await configurationInForce(tx, payment.clientId);
  if (!configuration) {
    const eyes = EYES[client.workflow];
    return eyes === 0 ? null : { ...frozen, eyes };
  }
  const { rate, converted, rule } = await govern(tx, configuration, payment);
  if (rule === null) return null;
  const { currency, rules } = configuration.ruleset;
  const ruleset = {
    configuration: configuration.id,
    version: configuration.version,
    rule,
    minimum_threshold: rules[rule]?.minimum_threshold ?? '0',
    currency,
    rate,
    amount: converted,
  };
  return { ...frozen, ruleset };
}

/** Configurations kept in memory; the largest has 5,000 users. A stored configuration never changes, so none expires. */
const MAX_CACHED_CONFIGURATIONS = 100;
const kept = new BoundedMap<string, { configuration: Configuration; rules: Map<number, ApprovalRules> }>(
  MAX_CACHED_CONFIGURATIONS,
);

/** The rules that a requirement names, with their groups and people. */
export async function rulesOf(db: Db, clientId: string, requirement: Requirement): Promise<ApprovalRules> {
  const { eyes, ruleset } = requirement;
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

/** Bytes of a state's hash. */
const STATE_BYTES = 16;

/**
 * Names all that decides who may act on a payment, apart from who is permitted: payments with the same state have the same
 * approvers. A creator whom no group names plays no part.
 * @param approved the contacts who approved other than the creator, in any order
 */
export function stateOf(requirement: Requirement, rules: ApprovalRules, approved: readonly string[]): Buffer {
  const { creator, creation_counts: counts, ruleset } = requirement;
  const named = rules.kind !== 'levels' || rules.groups.some(({ members }) => members.includes(creator));
  const rule = ruleset ? [ruleset.configuration, ruleset.rule] : [rules.kind === 'eyes' ? rules.approvers : 0];
  const text = JSON.stringify([rule, named ? [creator, counts] : null, [...approved].sort()]);
  return sha256(text).subarray(0, STATE_BYTES);
}
