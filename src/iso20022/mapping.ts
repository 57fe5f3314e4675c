import { isCalendarDay, londonDay, parseInstant } from '../values/calendar.ts';
import type { Block, Extra, Initiation, InitiationMessage, Transfer } from './initiation.ts';
import { all, firstText, type Tree, textAt } from './tree.ts';

/** The most characters of a payment's reference. */
const MAX_REFERENCE = 140;

/** The order's reason for each ISO 20022 purpose (CtgyPurp). */
const REASONS: Record<string, Extra['reason']> = { SALA: 'salary_payroll', SUPP: 'payment_for_goods' };

/** Who pays the charges (ChrgBr). If it is left out, they are shared. CRED is not supported. */
const CHARGES: Record<string, Extra['charges']> = { DEBT: 'OUR', SHAR: 'SHA', SLEV: 'SHA' };

/** The contents of a validated document. @param document its root element */
export function initiationOf(document: Tree, message: InitiationMessage): Initiation {
  const [content] = document.children;
  if (!content) throw new Error('a document that is valid has a message');
  return {
    message,
    messageId: textAt(content, 'GrpHdr/MsgId') ?? '',
    createdAt: textAt(content, 'GrpHdr/CreDtTm')?.trim() ?? '',
    count: textAt(content, 'GrpHdr/NbOfTxs') ?? '',
    sum: decimalAt(content, 'GrpHdr/CtrlSum'),
    blocks: all(content, 'PmtInf').map(blockOf),
  };
}

function blockOf(block: Tree): Block {
  const iban = textAt(block, 'DbtrAcct/Id/IBAN');
  const day = dayOf(firstText(block, 'ReqdExctnDt/Dt', 'ReqdExctnDt/DtTm', 'ReqdExctnDt')?.trim() ?? '');
  return {
    id: textAt(block, 'PmtInfId') ?? '',
    count: textAt(block, 'NbOfTxs'),
    sum: decimalAt(block, 'CtrlSum'),
    method: textAt(block, 'PmtMtd') ?? '',
    day,
    account: iban === undefined ? { number: textAt(block, 'DbtrAcct/Id/Othr/Id') ?? '' } : { iban },
    currency: textAt(block, 'DbtrAcct/Ccy'),
    transactions: all(block, 'CdtTrfTxInf').map((transfer) => transferOf(transfer, block, day)),
  };
}

function transferOf(transfer: Tree, block: Tree, day: string): Transfer {
  const amount = decimalAt(transfer, 'Amt/InstdAmt');
  const currency = all(transfer, 'Amt/InstdAmt')[0]?.currency ?? textAt(transfer, 'Amt/EqvtAmt/CcyOfTrf');
  const endToEndId = textAt(transfer, 'PmtId/EndToEndId') ?? '';
  const fields = {
    payment_currency: currency,
    payment_reference: referenceOf(transfer) ?? endToEndId,
    direction: 'buy',
    trade_type: 'spot',
    value_date: day,
    instruction_id: textAt(transfer, 'PmtId/InstrId'),
    ...payeeOf(transfer),
    purpose_of_payment: firstText(transfer, 'Purp/Cd', 'Purp/Prtry'),
  };
  return {
    text: withAmount(JSON.stringify(fields), amount),
    extra: extraOf(transfer, { block, endToEndId, faults: amount === undefined ? [EQUIVALENT] : [] }),
    amount: amount ?? decimalAt(transfer, 'Amt/EqvtAmt/Amt') ?? '0',
  };
}

/** An amount in another currency, whose value is not known before the exchange. */
const EQUIVALENT = {
  field: 'payment_amount',
  code: 'invalid_format',
  message: 'must be an InstdAmt: EqvtAmt is not done',
};

/** The instruction with its amount. The digits must not pass through a float. */
function withAmount(text: string, amount: string | undefined): string {
  return amount === undefined ? text : `${text.slice(0, -1)},"payment_amount":${amount}}`;
}

function extraOf(
  transfer: Tree,
  { block, endToEndId, faults }: { block: Tree; endToEndId: string; faults: NonNullable<Extra['faults']> },
): Extra {
  const bearer = textAt(transfer, 'ChrgBr') ?? textAt(block, 'ChrgBr') ?? 'SLEV';
  const charges = CHARGES[bearer];
  const found = charges
    ? faults
    : [...faults, { field: 'charges', code: 'invalid_format', message: `must be DEBT, SHAR or SLEV, not ${bearer}` }];
  const uuid = textAt(transfer, 'PmtId/UETR');
  return {
    end_to_end_id: endToEndId,
    ...(uuid !== undefined && { uuid }),
    charges: charges ?? 'SHA',
    reason: REASONS[firstText(transfer, CATEGORY) ?? firstText(block, CATEGORY) ?? ''] ?? 'other',
    ...(found.length > 0 && { faults: found }),
  };
}
const CATEGORY = 'PmtTpInf/CtgyPurp/Cd';

/** The payee of a transaction, in the fields of an instruction. Undefined fields are left out of its JSON. */
function payeeOf(transfer: Tree): Record<string, string | undefined> {
  const at = (...paths: string[]) => firstText(transfer, ...paths);
  const bic = at(`${AGENT}/BICFI`, `${AGENT}/BIC`);
  const iban = at('CdtrAcct/Id/IBAN');
  const street = [at(`${ADDRESS}/StrtNm`), at(`${ADDRESS}/BldgNb`)].filter((part) => part !== undefined).join(' ');
  const [line, nextLine] = all(transfer, `${ADDRESS}/AdrLine`).map(({ text }) => text);
  return {
    beneficiary_name: at('Cdtr/Nm'),
    beneficiary_country: at(`${ADDRESS}/Ctry`, 'Cdtr/CtryOfRes'),
    bank_country: at(`${AGENT}/PstlAdr/Ctry`) ?? bic?.slice(4, 6) ?? iban?.slice(0, 2),
    beneficiary_address: street || line,
    beneficiary_city: at(`${ADDRESS}/TwnNm`) ?? nextLine,
    beneficiary_state: at(`${ADDRESS}/CtrySubDvsn`),
    beneficiary_post_code: at(`${ADDRESS}/PstCd`),
    iban,
    account_number: at('CdtrAcct/Id/Othr/Id'),
    bank_code: at(`${AGENT}/ClrSysMmbId/MmbId`),
    swift_code: bic,
    bank_name: at(`${AGENT}/Nm`),
  };
}
const AGENT = 'CdtrAgt/FinInstnId';
const ADDRESS = 'Cdtr/PstlAdr';

/** The reference for the payee: its texts, or else the creditor's reference. */
function referenceOf(transfer: Tree): string | undefined {
  const texts = all(transfer, 'RmtInf/Ustrd').map(({ text }) => text);
  const found = texts.length > 0 ? texts.join(' ') : textAt(transfer, 'RmtInf/Strd/CdtrRefInf/Ref');
  return found && [...found].slice(0, MAX_REFERENCE).join('');
}

/** An amount of the message in JSON's notation: no sign, no leading zeros, and a digit on both sides of the point. */
function decimalAt(tree: Tree, path: string): string | undefined {
  const written = textAt(tree, path)?.trim();
  if (written === undefined) return undefined;
  const [whole = '', fraction = ''] = written.replace(/^[+-]/, '').split('.');
  const sign = written.startsWith('-') ? '-' : '';
  return `${sign}${whole.replace(/^0+(?=\d)/, '') || '0'}${fraction && `.${fraction}`}`;
}

const AT_MIDNIGHT = 'T24:00:00';

/** The last day that can be written with a year of four digits. */
const LAST_DAY = '9999-12-31';

/** The day of an ISODate or ISODateTime, which may have a zone. A year with more than four digits counts as far away. */
function dayOf(written: string): string {
  if (/^\d{5}/.test(written)) return LAST_DAY;
  const day = written.slice(0, 10);
  if (!isCalendarDay(day) || !written.includes('T') || written.includes(AT_MIDNIGHT)) return day;
  const instant = parseInstant(written);
  return instant ? londonDay(instant) : day;
}
