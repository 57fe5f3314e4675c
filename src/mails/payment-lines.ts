import type { Language } from '../values/language.ts';
import { numeral } from '../values/money.ts';
import { printable } from '../values/text.ts';
import type { MailBlock } from './mail-page.ts';
import { MAIL_WORDS } from './texts.ts';

const LOCALES: Record<Language, string> = { en: 'en-GB', de: 'de-DE', fr: 'fr-FR', es: 'es-ES' };

/** A payment in the form that mails show. The payee's account is left out, because anybody with access to the mailbox can read a mail. */
export interface MailedPayment {
  payment_id: string;
  client_id: string;
  client_name: string;
  /** Decimal string. */
  amount: string;
  payment_currency: string;
  beneficiary_name: string;
  reference: string | null;
  /** `YYYY-MM-DD` */
  payment_date: string;
  ordered_by_name: string;
}

/** SQL for the columns of a `MailedPayment`, from payments `p` and clients `c`. */
export const MAILED = `p.payment_id, p.client_id, c.client_name, p.amount::text as amount, p.payment_currency, p.beneficiary_name,
  p.reference, p.payment_date::text as payment_date, p.ordered_by_name`;

/** The amount with its currency, in the reader's notation and with the stored decimals: it is never rounded. */
export function sumOf({ amount, payment_currency: currency }: MailedPayment, language: Language): string {
  const digits = amount.split('.')[1]?.length ?? 0;
  const format = new Intl.NumberFormat(LOCALES[language], {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${format.format(numeral(amount))} ${currency}`;
}

export function payeeOf({ beneficiary_name: name }: MailedPayment): string {
  return printable(name);
}

/** What a mail says about one payment, and where to open it. */
export function paymentLines(payment: MailedPayment, language: Language, apiUrl: string): MailBlock[] {
  const words = MAIL_WORDS[language];
  const day = new Intl.DateTimeFormat(LOCALES[language], { dateStyle: 'long', timeZone: 'UTC' });
  const { reference } = payment;
  const references: [string, string][] = reference === null ? [] : [[words.reference, printable(reference)]];
  const facts: [string, string][] = [
    [words.amount, sumOf(payment, language)],
    [words.payee, payeeOf(payment)],
    ...references,
    [words.paymentDate, day.format(new Date(`${payment.payment_date}T00:00:00Z`))],
    [words.createdBy, printable(payment.ordered_by_name)],
    [words.client, `${printable(payment.client_name)} (${payment.client_id})`],
  ];
  return [{ facts }, { link: paymentLink(payment, apiUrl), label: words.open(payment.payment_id) }];
}

function paymentLink({ payment_id: id, client_id: clientId }: MailedPayment, apiUrl: string): string {
  return `${apiUrl}/app/payments/${encodeURIComponent(id)}?client_id=${encodeURIComponent(clientId)}`;
}
