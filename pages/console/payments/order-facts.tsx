import type { Answered } from '../../data/operator-api.ts';
import type { Fact } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';
import { IdLink } from '../lists/links.tsx';
import { useWord } from '../lists/words.ts';

type Payment = Answered<'GET /payments/{payment_id}'>;

/** A function that gives the facts of an order: who made it, and what it came with. Empty facts are left out. */
export function useOrderFacts(): (payment: Payment) => Fact[] {
  const t = useText();
  const word = useWord();
  const foreign = (text: string | null | undefined) => (text ? <ForeignText>{text}</ForeignText> : null);
  return (payment) => {
    // Payments from the core may name a file that only the core has.
    const isOwn = payment.source === 'client';
    const { scheme, charges, reason, decision_reason: decided, request_index: place, mass_payment_id: file } = payment;
    const instruction: Fact[] = [
      // Without a reason of its own, an order shows there why somebody rejected it.
      { name: t('console.quote.reason'), value: reason && reason !== decided ? word(reason) : null },
      { name: t('console.schemes.scheme'), value: scheme },
      { name: t('console.payment.charges'), value: charges },
      { name: t('console.payment.purpose'), value: foreign(payment.purpose_of_payment) },
      { name: t('console.payment.funding'), value: payment.funding_account_id },
      { name: t('console.word.quote'), value: payment.quote_id ? <IdLink to="quotes" id={payment.quote_id} /> : null },
      { name: t('console.payment.file'), value: file && (isOwn ? <IdLink to="files" id={file} /> : file) },
      { name: t('console.payment.row'), value: place == null ? null : place + 1 },
      { name: t('console.payment.instruction'), value: foreign(payment.instruction_id) },
      { name: t('console.payment.endToEnd'), value: foreign(payment.end_to_end_id) },
      { name: t('console.payment.information'), value: foreign(payment.information) },
    ];
    const given = instruction.filter(({ value }) => value !== null && value !== undefined);
    return [{ name: t('console.col.source'), value: word(payment.source) }, ...given];
  };
}
