import type { Language } from '../../values/language.ts';
import { sum } from '../../values/money.ts';
import { printable } from '../../values/text.ts';

/** The most characters of a payee's name. A longer one would turn the message into two. */
const MAX_NAME_CHARACTERS = 40;

/** The payee of a payment, and the amount. */
export interface Payee {
  /** Decimal string. */
  amount: string;
  currency: string;
  name: string;
  iban: string | null;
  account_number: string | null;
}

interface Approval {
  institution: string;
  code: string;
  /** For example `EUR 1250.50`. */
  sum: string;
  account: string;
  name: string;
}

/** The code comes first, because phones offer the first digits of a text message to the field that waits for them. */
const TEXTS: Record<Language, (approval: Approval) => string> = {
  en: ({ institution, code, sum, account, name }) =>
    `${institution}: ${code} approves the payment of ${sum} to ${account} (${name}). It is valid for 5 minutes. ` +
    'If you are not approving this payment, do not enter or share the code.',
  de: ({ institution, code, sum, account, name }) =>
    `${institution}: ${code} gibt die Zahlung von ${sum} an ${account} (${name}) frei. Der Code gilt 5 Minuten. ` +
    'Wenn Sie diese Zahlung nicht freigeben, geben Sie den Code nicht ein und nicht weiter.',
  fr: ({ institution, code, sum, account, name }) =>
    `${institution} : ${code} approuve le paiement de ${sum} vers ${account} (${name}). Il est valable 5 minutes. ` +
    'Si vous n’approuvez pas ce paiement, ne saisissez pas ce code et ne le communiquez à personne.',
  es: ({ institution, code, sum, account, name }) =>
    `${institution}: ${code} aprueba el pago de ${sum} a ${account} (${name}). Es válido durante 5 minutos. ` +
    'Si no está aprobando este pago, no introduzca ni comparta el código.',
};

/** The text message with the code for the approval of a payment. It shows what the code approves. */
export function approvalText(
  language: Language,
  institution: string,
  { code, payments }: { code: string; payments: readonly Payee[] },
): string {
  const [payment, ...others] = payments;
  if (!payment || others.length > 0) {
    const sums = new Map<string, string>();
    for (const { currency, amount } of payments) sums.set(currency, sum(sums.get(currency) ?? '0', amount));
    return approvalsText(language, institution, { code, sums, accounts: payments.map(accountOf) });
  }
  const { amount, currency } = payment;
  const name = [...printable(payment.name)].slice(0, MAX_NAME_CHARACTERS).join('');
  return TEXTS[language]({
    ...{ institution, code, sum: `${currency} ${amount}` },
    ...{ account: printable(accountOf(payment)), name },
  });
}

function accountOf({ iban, account_number: number }: Payee): string {
  return iban ?? number ?? '-';
}

/** The most accounts that a text message for many payments names. */
const MAX_ACCOUNTS = 3;

/** What one code approves. */
interface Approvals {
  code: string;
  /** Decimals by currency. */
  sums: ReadonlyMap<string, string>;
  /** The accounts of the payees, one for each payment. */
  accounts: readonly string[];
}

const TEXTS_OF_MANY: Record<
  Language,
  (approval: { institution: string; code: string; count: number; sums: string; accounts: string }) => string
> = {
  en: ({ institution, code, count, sums, accounts }) =>
    `${institution}: ${code} approves ${count} payments, ${sums}, to ${accounts}. It is valid for 5 minutes. ` +
    'If you are not approving these payments, do not enter or share the code.',
  de: ({ institution, code, count, sums, accounts }) =>
    `${institution}: ${code} gibt ${count} Zahlungen frei, ${sums}, an ${accounts}. Der Code gilt 5 Minuten. ` +
    'Wenn Sie diese Zahlungen nicht freigeben, geben Sie den Code nicht ein und nicht weiter.',
  fr: ({ institution, code, count, sums, accounts }) =>
    `${institution} : ${code} approuve ${count} paiements, ${sums}, vers ${accounts}. Il est valable 5 minutes. ` +
    'Si vous n’approuvez pas ces paiements, ne saisissez pas ce code et ne le communiquez à personne.',
  es: ({ institution, code, count, sums, accounts }) =>
    `${institution}: ${code} aprueba ${count} pagos, ${sums}, a ${accounts}. Es válido durante 5 minutos. ` +
    'Si no está aprobando estos pagos, no introduzca ni comparta el código.',
};

/** The text message with the code for many approvals. It names their number, the sum for each currency, and some of the accounts. */
export function approvalsText(language: Language, institution: string, { code, sums, accounts }: Approvals): string {
  const several = [...new Set(accounts.map(printable))];
  const named = several.slice(0, MAX_ACCOUNTS).join(', ') + (several.length > MAX_ACCOUNTS ? ', ...' : '');
  const totals = [...sums].map(([currency, amount]) => `${currency} ${amount}`).join(', ');
  return TEXTS_OF_MANY[language]({ institution, code, count: accounts.length, sums: totals, accounts: named });
}
