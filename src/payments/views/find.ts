import { nameKey } from '../../beneficiaries/account-key.ts';
import type { Db } from '../../database/database.ts';
import { isUuid } from '../../values/identifiers.ts';

/** The most results of each kind. */
const MAX_FINDS = 6;
/** The most digits of an amount, and the most after the point. */
const MAX_DIGITS = 20;

export interface FoundPayment {
  payment_id: string;
  amount: string;
  payment_currency: string;
  beneficiary_name: string;
  reference: string | null;
  status: string;
  payment_date: string;
}

export interface FoundPayee {
  beneficiary_id: string;
  beneficiary_name: string;
  currency: string | null;
  /** The last characters of its account. */
  account: string | null;
}

/** The results of a global search in a client's data. */
export interface Finds {
  payments: FoundPayment[];
  payees: FoundPayee[];
  /** Whether there are more of each kind than are given. */
  more: { payments: boolean; payees: boolean };
}

/** One more than is given is read: so it is known whether there are more. */
const READ = MAX_FINDS + 1;

const COLUMNS =
  'payment_id, amount::text as amount, payment_currency, beneficiary_name, reference, status, payment_date::text, created, id';
const one = (condition: string) =>
  `(select ${COLUMNS} from payments where client_id = $1 and ${condition} order by created desc, id desc limit ${READ})`;
// Each part has an index of its own.
const PAYMENTS = `select payment_id, amount, payment_currency, beneficiary_name, reference, status, payment_date
  from (${[
    one('payment_id = any($2::text[])'),
    one('uuid = $3'),
    one('reference = $4'),
    one('amount = any($5::numeric[])'),
  ].join('\n  union ')}) found order by created desc, id desc limit ${READ}`;
// Payees whose name begins with the text come first.
const PAYEES = `select beneficiary_id, beneficiary_name, currency, right(coalesce(iban, account_number), 4) as account
  from beneficiaries where client_id = $1 and active and strpos(name_key, $2) > 0
  order by strpos(name_key, $2), name_key, account_id limit ${READ}`;

/** The payments and payees of a client that a text names: an id, a UETR, a whole reference, an amount, or part of a payee's name. */
export async function findNamed(db: Db, clientId: string, text: string): Promise<Finds> {
  const { rows: payments } = await db.query<FoundPayment>(PAYMENTS, [
    clientId,
    [text, text.toUpperCase()],
    isUuid(text) ? text : null,
    text,
    amountsOf(text),
  ]);
  const { rows: payees } = await db.query<FoundPayee>(PAYEES, [clientId, nameKey(text)]);
  return {
    payments: payments.slice(0, MAX_FINDS),
    payees: payees.slice(0, MAX_FINDS),
    more: { payments: payments.length > MAX_FINDS, payees: payees.length > MAX_FINDS },
  };
}

/** The amounts that a text may mean in any locale: `1,234` is either above a thousand or slightly above one. */
export function amountsOf(text: string): string[] {
  const written = text.replace(/[\s'’\u00a0\u202f]/gu, '');
  if (!/^\d[\d.,]*$/.test(written) || written.replace(/\D/g, '').length > MAX_DIGITS) return [];
  const last = Math.max(written.lastIndexOf('.'), written.lastIndexOf(','));
  const whole = written.replace(/[.,]/g, '');
  if (last < 0) return [whole];
  const fraction = written.slice(last + 1);
  const exact = `${written.slice(0, last).replace(/[.,]/g, '')}.${fraction || '0'}`;
  // A sign that appears twice groups digits. One that is followed by three digits may do so.
  const isGrouped = written.indexOf(written[last] as string) !== last;
  if (isGrouped) return [whole];
  return fraction.length === 3 && !exact.startsWith('0') ? [exact, whole] : [exact];
}
