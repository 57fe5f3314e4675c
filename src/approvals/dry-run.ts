import type { Db } from '../database/database.ts';
import { A_CURRENCY, isCurrency } from '../values/currencies.ts';
import { Problem } from '../values/errors.ts';
import { type Exact, exact } from '../values/json.ts';
import { decimal } from '../values/money.ts';
import {
  type ApprovalSettings,
  checkConfiguration,
  named,
  type Person,
  readApprovalSettings,
  type ShownConfiguration,
  shownConfiguration,
} from './configuration.ts';
import { govern } from './requirement.ts';
import { approvalState, rulesFor } from './rules/rules.ts';
import type { Configuration, Level } from './rules/ruleset.ts';

/** The most sample amounts of one dry run. Evaluating one takes at most 5 ms. */
export const MAX_SAMPLES = 50;

/** What a payment of an amount would need. */
export interface Sample {
  amount: Exact | null;
  currency: string;
  rate: Exact | null;
  converted_amount: Exact | null;
  /** Index into `ruleset.rules`; null if no threshold is low enough, so no approval is needed. */
  rule: number | null;
  minimum_threshold: Exact | null;
  minimum_authorisations: number;
  levels: Level[];
  /** Contacts who could give the first approval. */
  first_approvers: string[];
}

const NO_APPROVALS: ApprovalSettings = { payment_approvals_enabled: false, payment_creator_approval_enabled: false };

export interface DryRun extends ShownConfiguration, ApprovalSettings {
  dry_run: true;
  /** For each group, its users who may authorise payments now. */
  approvers: { group: string; users: Person[] }[];
  samples: Sample[];
}

/**
 * Checks a configuration as if it were to replace the one in force, and reports who would have to approve sample amounts. Changes nothing.
 * @param body the configuration, and `sample_amounts`: numbers or decimal strings in the ruleset's currency, or objects with `amount` and
 * `currency`; without it each rule's threshold is a sample
 * @throws Problem invalid_body, ruleset_unsatisfiable, exchange_rate_missing
 */
export async function dryRun(db: Db, clientId: string, body: unknown): Promise<DryRun> {
  const { configuration, people, permitted } = await checkConfiguration(db, clientId, body);
  const settings = (await readApprovalSettings(db, clientId)) ?? NO_APPROVALS;
  const samples: Sample[] = [];
  for (const [index, { amount, currency }] of readSamples(body, configuration).entries()) {
    samples.push(await sampleOf(db, { configuration, permitted }, { amount, currency }, `sample_amounts[${index}]`));
  }
  const stored = named(configuration, people);
  return {
    ...shownConfiguration(stored),
    dry_run: true,
    ...settings,
    approvers: stored.groups.map(({ name, users }) => ({
      group: name,
      users: users.filter(({ id }) => permitted.has(id)),
    })),
    samples,
  };
}

function readSamples(body: unknown, { ruleset }: Configuration): { amount: string; currency: string }[] {
  return (
    writtenSamples(body, ruleset.currency) ??
    ruleset.rules.map((rule) => ({ amount: rule.minimum_threshold, currency: ruleset.currency }))
  );
}

/** Refuses samples that no dry run would accept, even if none is requested. @throws Problem invalid_body */
export function checkSamples(body: unknown): void {
  writtenSamples(body, '');
}

/** The samples that a body names; undefined if it names none. @param ownCurrency for samples without a currency */
function writtenSamples(body: unknown, ownCurrency: string): { amount: string; currency: string }[] | undefined {
  const input = (body as { sample_amounts?: unknown } | undefined)?.sample_amounts;
  if (input === undefined) return undefined;
  if (!Array.isArray(input) || input.length > MAX_SAMPLES) {
    throw new Problem('invalid_body', {
      field: 'sample_amounts',
      message: `must be a list of at most ${MAX_SAMPLES} amounts`,
    });
  }
  return input.map((sample: unknown, index) => {
    const path = `sample_amounts[${index}]`;
    if (typeof sample !== 'object' || sample === null) return { amount: decimal(sample, path), currency: ownCurrency };
    const { amount, currency = ownCurrency } = sample as { amount?: unknown; currency?: unknown };
    if (typeof currency !== 'string' || !isCurrency(currency))
      throw new Problem('invalid_body', { field: `${path}.currency`, message: A_CURRENCY });
    return { amount: decimal(amount, `${path}.amount`), currency };
  });
}

async function sampleOf(
  db: Db,
  { configuration, permitted }: { configuration: Configuration; permitted: ReadonlySet<string> },
  { amount, currency }: { amount: string; currency: string },
  path: string,
): Promise<Sample> {
  const governed = await govern(db, configuration, { amount, currency }).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'exchange_rate_missing')
      throw new Problem(error.code, {
        field: `${path}.currency`,
        message: `no rate is known between ${currency} and ${configuration.ruleset.currency}`,
      });
    throw error;
  });
  const rule = governed.rule === null ? undefined : configuration.ruleset.rules[governed.rule];
  const nobody = { approvals: [], creator: '', creatorApprovalEnabled: false, permitted };
  const state = approvalState(rule ? rulesFor(configuration, rule) : { kind: 'none' }, nobody);
  return {
    amount: exact(amount),
    currency,
    rate: exact(governed.rate),
    converted_amount: exact(governed.converted),
    rule: governed.rule,
    minimum_threshold: exact(rule?.minimum_threshold ?? null),
    minimum_authorisations: state.remaining,
    levels: rule?.groups ?? [],
    first_approvers: rule ? state.mayAuthorise : [],
  };
}
