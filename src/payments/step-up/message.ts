import type { Language } from '../../values/language.ts';
import { printable } from '../../values/text.ts';

/** Characters of a payee's name in a text message: a longer one would make it two. */
const MAX_NAME_CHARACTERS = 40;

/** Whom a payment pays, and how much. */
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
  /** As `EUR 1250.50`. */
  sum: string;
  account: string;
  name: string;
}

/** The code comes first: phones offer the first digits of a text message to the field that waits for them. */
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

/** The text message with the code for one approval: it shows what the code approves. */
export function approvalText(language: Language, institution: string, payment: Payee & { code: string }): string {
  const { code, amount, currency, iban, account_number: number } = payment;
  const name = [...printable(payment.name)].slice(0, MAX_NAME_CHARACTERS).join('');
  const account = printable(iban ?? number ?? '-');
  return TEXTS[language]({ institution, code, sum: `${currency} ${amount}`, account, name });
}
