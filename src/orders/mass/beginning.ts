import Big from 'big.js';
import { marketsOpen, readFxAvailability } from '../../exchange/fx-availability.ts';
import { shareOfLimit } from '../../payments/orders/daily-limit.ts';
import { requireOpen } from '../../payments/orders/judgement.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { Problem } from '../../values/errors.ts';
import { sum } from '../../values/money.ts';
import { present } from '../../values/unknown.ts';
import type { Outcome } from '../engine.ts';
import { bookExchanges, type Group, groupsOf, priceGroups, requirePrices } from '../instructions/exchanges.ts';
import type { Source } from '../instructions/scene.ts';
import { type Rights, rightsOf } from '../rights.ts';
import { answered } from '../rows.ts';
import {
  dropRows,
  errorOf,
  type File,
  judgeAgain,
  moveTo,
  orderer,
  rowsOf,
  type Step,
  type StoredRow,
  sold,
  sumsOf,
} from './file-step.ts';

/** Starts to make a file: uses the daily limit, and books the exchanges. */

const fail = (step: Step, problem: Problem) => moveTo(step, 'Failed', { error: errorOf(problem), proceeds: false });

/** Uses the daily limit and books the exchanges of a file, all in one transaction. */
export async function begin(step: Step): Promise<Outcome> {
  const { context, tx, act, file } = step;
  const { now } = act;
  const needs = await needsOf(step);
  const { exchanges } = needs;
  if (exchanges && !marketsOpen(await readFxAvailability(tx), now)) {
    if (!file.waited)
      await tx.query('update mass_payments set waited = true where client_id = $1 and mass_payment_id = $2', [
        ...[file.client_id, file.mass_payment_id],
      ]);
    return 'waits';
  }
  if (!mayGoOn(await rightsOf(tx, orderer(file)), needs))
    return fail(step, new Problem('permission_denied', 'its maker may no longer do this for the client'));
  const stored = await rowsOf(step, { where: "status = 'valid'", most: file.received });
  const { rows, source, scene, judged } = await judgeAgain(step, stored, true);
  const dropped = new Map(
    rows.filter(({ faults }) => faults.length > 0).map((row) => [row.index, answered(row.faults)]),
  );
  const limits = new Map<number, string>();
  if (scene.day) {
    const { decimals } = scene.settings.currency(scene.day.currency);
    const shares = await shareOfLimit(
      tx,
      scene.day,
      judged.map(({ row }) => row),
      decimals,
    );
    for (const [place, share] of shares.entries()) {
      const { row } = present(judged[place]);
      if (typeof share === 'string') limits.set(row.index, share);
      else dropped.set(row.index, answered([{ field: '', code: share.code, message: share.details }]));
    }
  }
  const kept = judged.filter(({ row }) => !dropped.has(row.index));
  const pricing = { environment: context.config.environment, clientId: file.client_id, now, firm: true };
  const priced = await priceGroups(tx, groupsOf(kept), { ...pricing, sellCurrency: file.sell_currency ?? '' });
  try {
    const prices = requirePrices(priced);
    const cost = prices.map(({ terms }) => terms.sellAmount).reduce(sum, '0');
    const { own, none } = await sumsOf(step);
    const most = acceptedOf(file, own);
    if (exchanges && (most === null || (most !== undefined && new Big(cost).gt(most)))) {
      const message = `the exchanges cost ${cost} ${file.sell_currency}, and ${most ?? 'no price'} was accepted`;
      return await moveTo(step, 'Processed', {
        ...{ error: errorOf(new Problem('rate_moved', message)), maximum_sell_amount: null },
        ...{
          sell_amount: sold(file, priced, own),
          estimated_at: now,
          proceeds: false,
          authorised: false,
          waited: false,
        },
      });
    }
    if (scene.trade) requireOpen(scene.trade);
    requireCovered(scene, file, { cost, exchanges: prices.length });
    await dropRows(step, dropped);
    const booked = await bookExchanges(tx, act, presentationOf(context).apiUrl, {
      ...{ orderer: orderer(file), priced: prices, source, scene, massPaymentId: file.mass_payment_id },
      reasonOf: (group) => reasonOf(group, stored) ?? source.reason,
    });
    const boughtBy = new Map(booked.flatMap(({ group, tradeId }) => group.members.map((each) => [each, tradeId])));
    const taking = kept.filter((each) => boughtBy.has(each) || limits.has(each.row.index));
    await tx.query(
      `update mass_payment_rows r set trade_id = u.trade_id, limit_amount = u.limit_amount, limit_currency = $6
       from unnest($3::int[], $4::text[], $5::numeric[]) as u(request_index, trade_id, limit_amount)
       where r.client_id = $1 and r.mass_payment_id = $2 and r.request_index = u.request_index`,
      [
        ...[file.client_id, file.mass_payment_id, taking.map(({ row }) => row.index)],
        taking.map((each) => boughtBy.get(each) ?? null),
        ...[taking.map(({ row }) => limits.get(row.index) ?? null), scene.day?.currency ?? null],
      ],
    );
    const { sums, fresh } = await sumsOf(step);
    return await moveTo(step, 'Creating', {
      ...{ error: null, sums, new_beneficiaries: fresh, trades: booked.length, proceeds: false },
      ...{ sell_amount: file.sell_currency === null ? null : sum(cost, none), estimated_at: null },
    });
  } catch (error) {
    if (error instanceof Problem) return fail(step, error);
    throw error;
  }
}

/** What the valid rows of a file need. */
interface Needs {
  exchanges: boolean;
  payees: boolean;
}

async function needsOf({ tx, file }: Step): Promise<Needs> {
  const { rows } = await tx.query<Needs & Record<string, unknown>>(
    `select coalesce(bool_or(exchanged), false) as exchanges, coalesce(bool_or(new_payee is not null), false) as payees
     from mass_payment_rows where client_id = $1 and mass_payment_id = $2 and status = 'valid'`,
    [file.client_id, file.mass_payment_id],
  );
  return rows[0] ?? { exchanges: false, payees: false };
}

/** Whether the file's maker still has the rights that the file needs. */
function mayGoOn(rights: Rights, { exchanges, payees }: Needs): boolean {
  const enabled = rights.client_enabled && rights.contact_enabled;
  const orders = rights.can_create_payments && rights.can_manage_multipayments;
  return enabled && orders && (rights.can_trade || !exchanges) && (rights.can_manage_beneficiaries || !payees);
}

/** Why a group is bought, if its rows say so; `other` if they differ. */
function reasonOf({ members }: Group, stored: readonly StoredRow[]): Source['reason'] | undefined {
  const origins = new Map(stored.map(({ request_index: index, origin }) => [index, origin]));
  const [reason, ...others] = new Set(members.map(({ row }) => origins.get(row.index)?.reason));
  return others.length > 0 ? 'other' : reason;
}

/**
 * The most that the exchanges may cost, as a decimal: what was accepted, or the estimate of a pain.001 that had to wait for FX.
 * @returns undefined: any price; null: no price counts as accepted
 */
function acceptedOf(file: File, own: string): string | null | undefined {
  if (file.maximum_sell_amount !== null) return file.maximum_sell_amount;
  if (file.payment_initiation_id === null || !file.waited) return undefined;
  return file.sell_amount === null ? null : new Big(file.sell_amount).minus(own).toFixed();
}

/** @throws Problem currency_mismatch, insufficient_funds */
function requireCovered(
  { funds }: { funds: { currency: string; balance: string; held: string } | undefined },
  { sell_currency: sellCurrency }: File,
  { cost, exchanges }: { cost: string; exchanges: number },
): void {
  if (!funds) return;
  if (funds.currency !== sellCurrency)
    throw new Problem('currency_mismatch', {
      field: 'funding_account_id',
      message: `the account is in ${funds.currency}, and ${sellCurrency} is sold`,
    });
  const available = new Big(funds.balance).minus(funds.held);
  if (exchanges > 0 && available.lt(cost))
    throw new Problem(
      'insufficient_funds',
      `available: ${available.toFixed()}, needed: ${cost}, currency: ${funds.currency}`,
    );
}
