import { Readable } from 'node:stream';
import { isUuid } from '../values/identifiers.ts';
import { element, pieces, text } from '../values/xml.ts';
import {
  type AccountStatement,
  type BalancedLine,
  balancedLines,
  lineCount,
  type StatementParty,
  type StatementSection,
} from './account-statement.ts';

/** The institution that holds the accounts. */
export interface Servicer {
  name: string;
  bic?: string;
}

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08';
/** The number of characters that are written at once. */
const CHUNK_CHARACTERS = 65_536;

/** The domain, family and sub-family of the external code set for each kind of transaction (ISO 20022, bank transaction codes). */
const BANK_TRANSACTION_CODES: Record<string, [domain: string, family: string, subFamily: string]> = {
  CREDIT_INCOMING_TRANSACTION: ['PMNT', 'RCDT', 'OTHR'],
  CREDIT_PAYMENT_RETURNED_TRANSACTION: ['PMNT', 'ICDT', 'RRTN'],
  CREDIT_MARGIN_TRANSACTION: ['PMNT', 'MCOP', 'OTHR'],
  CREDIT_TRANSACTION: ['PMNT', 'MCOP', 'OTHR'],
  DEBIT_TRANSACTION: ['PMNT', 'ICDT', 'OTHR'],
};

/**
 * A statement as a stream of camt.053.001.08 (ISO 20022, BankToCustomerStatementV08). It has one Stmt for each currency account, with
 * opening and closing balance, the summary of its entries, and the entries. A text that is too long for the message ends in an ellipsis.
 * Characters that XML cannot contain become U+FFFD. The stream fails with UnwritableAmount if the schema has no room for an amount.
 * @param servicer the institution that holds the account
 */
export function statementCamt(statement: AccountStatement, servicer: Servicer): Readable {
  return Readable.from(chunked(message(statement, servicer)), { objectMode: false, encoding: 'utf8' });
}

async function* chunked(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let waiting = '';
  for await (const piece of pieces) {
    waiting += piece;
    if (waiting.length < CHUNK_CHARACTERS) continue;
    yield waiting;
    waiting = '';
  }
  yield waiting;
}

async function* message(statement: AccountStatement, servicer: Servicer): AsyncGenerator<string> {
  // An identifier of the message has at most 35 characters, but a UUID has 36, so the hyphens are left out. The currency is added, because
  // a statement has several files.
  const id = statement.statement_id.replaceAll('-', '').slice(0, 31);
  const only = statement.sections.length === 1 ? `-${statement.sections[0]!.currency}` : '';
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${NAMESPACE}"><BkToCstmrStmt>`;
  yield element('GrpHdr', element('MsgId', id + only) + element('CreDtTm', statement.created_at));
  for (const section of statement.sections) {
    yield `\n<Stmt>${statementHead(statement, section, { id: `${id}-${section.currency}`, servicer })}`;
    for await (const entry of balancedLines(section)) yield `\n${entryElement(entry, section.currency)}`;
    yield '\n</Stmt>';
  }
  yield '\n</BkToCstmrStmt></Document>\n';
}

function statementHead(
  statement: AccountStatement,
  section: StatementSection,
  { id, servicer }: { id: string; servicer: Servicer },
): string {
  const { client, date_from, date_to } = statement;
  const { totals, currency } = section;
  return (
    element('Id', id) +
    element('CreDtTm', statement.created_at) +
    element('FrToDt', element('FrDtTm', `${date_from}T00:00:00`) + element('ToDtTm', `${date_to}T23:59:59`)) +
    element(
      'Acct',
      element('Id', element('Othr', element('Id', text(section.account_id, 34)))) +
        element('Ccy', currency) +
        element('Nm', text(client.client_name, 70)) +
        element(
          'Ownr',
          element('Nm', text(client.client_name, 140)) +
            element('Id', element('OrgId', element('Othr', element('Id', text(client.client_id, 35))))),
        ) +
        element(
          'Svcr',
          element(
            'FinInstnId',
            (servicer.bic ? element('BICFI', servicer.bic) : '') + element('Nm', text(servicer.name, 140)),
          ),
        ),
    ) +
    balanceElement('OPBD', { balance: section.opening, currency, day: date_from }) +
    balanceElement('CLBD', { balance: section.closing, currency, day: date_to }) +
    element(
      'TxsSummry',
      element('TtlNtries', element('NbOfNtries', String(lineCount(section)))) +
        element(
          'TtlCdtNtries',
          element('NbOfNtries', String(totals.credit_count)) + element('Sum', sum(totals.credits)),
        ) +
        element('TtlDbtNtries', element('NbOfNtries', String(totals.debit_count)) + element('Sum', sum(totals.debits))),
    )
  );
}

function balanceElement(
  code: string,
  { balance, currency, day }: { balance: string; currency: string; day: string },
): string {
  const type = element('Tp', element('CdOrPrtry', element('Cd', code)));
  return element(
    'Bal',
    type +
      amountElement(balance, currency) +
      element('CdtDbtInd', indicator(balance)) +
      element('Dt', element('Dt', day)),
  );
}

/** An id as Max35Text. A UUID has 36 characters, so it loses its hyphens; its end would be cut otherwise, and it would match nothing. */
function reference(id: string): string {
  return text(isUuid(id) ? id.replaceAll('-', '') : id, 35);
}

function entryElement({ line, signed }: BalancedLine, currency: string): string {
  const amount = amountElement(signed, currency) + element('CdtDbtInd', indicator(signed, line.credit_debit_indicator));
  const references =
    element('AcctSvcrRef', reference(line.transaction_id)) +
    (line.transaction_reference ? element('EndToEndId', text(line.transaction_reference, 35)) : '');
  const parties =
    partyElement('Dbtr', line.debtor_name ?? line.debtor_account?.account_name) +
    accountElement('DbtrAcct', line.debtor_account) +
    partyElement('Cdtr', line.creditor_name ?? line.creditor_account?.account_name) +
    accountElement('CdtrAcct', line.creditor_account);
  const agents = agentElement('DbtrAgt', line.debtor_account) + agentElement('CdtrAgt', line.creditor_account);
  const remittance = pieces(line.transaction_information, 140)
    .map((piece) => element('Ustrd', piece))
    .join('');
  const details =
    element('Refs', references) +
    amount +
    (parties && element('RltdPties', parties)) +
    (agents && element('RltdAgts', agents)) +
    (remittance && element('RmtInf', remittance)) +
    (line.additional_transaction_information
      ? element('AddtlTxInf', text(line.additional_transaction_information, 500))
      : '');
  return element(
    'Ntry',
    amount +
      element('Sts', element('Cd', 'BOOK')) +
      element('BookgDt', element('DtTm', line.booking_datetime)) +
      (line.value_datetime ? element('ValDt', element('Dt', line.value_datetime.slice(0, 10))) : '') +
      element('AcctSvcrRef', reference(line.transaction_id)) +
      transactionCode(line.kind) +
      element('NtryDtls', element('TxDtls', details)),
  );
}

function transactionCode(kind: string): string {
  const code = BANK_TRANSACTION_CODES[kind];
  const domain = code
    ? element('Domn', element('Cd', code[0]) + element('Fmly', element('Cd', code[1]) + element('SubFmlyCd', code[2])))
    : '';
  return element('BkTxCd', domain + element('Prtry', element('Cd', text(kind, 35))));
}

function partyElement(name: string, party: string | null | undefined): string {
  return party ? element(name, element('Pty', element('Nm', text(party, 140)))) : '';
}

const IBAN = /^[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}$/;
const BIC = /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/;

function accountElement(name: string, account: StatementParty | null): string {
  const iban = account?.iban?.replaceAll(' ', '');
  if (iban && IBAN.test(iban)) return element(name, element('Id', element('IBAN', iban)));
  const number = account?.account_number ?? account?.iban;
  return number ? element(name, element('Id', element('Othr', element('Id', text(number, 34))))) : '';
}

function agentElement(name: string, account: StatementParty | null): string {
  const bic = account?.swift;
  if (bic && BIC.test(bic)) return element(name, element('FinInstnId', element('BICFI', bic)));
  const other = bic ?? account?.bank_identifier;
  return other ? element(name, element('FinInstnId', element('Othr', element('Id', text(other, 35))))) : '';
}

/** A sum may have 17 decimals, but at most 18 digits in total (DecimalNumber). */
function sum(amount: string): string {
  const [integer = '', fraction = ''] = amount.split('.');
  const decimals = fraction.replace(/(?<!0)0+$/, '');
  if (integer.length + decimals.length > MAX_DIGITS)
    throw new UnwritableAmount(
      `camt.053 has room for sums of ${MAX_DIGITS} digits, and ${amount} has more; request pdf or csv`,
    );
  return integer.length + fraction.length > MAX_DIGITS ? `${integer}${decimals && `.${decimals}`}` : amount;
}

/** The most digits of an amount, in total and after the point (ActiveOrHistoricCurrencyAndAmount). */
const MAX_DIGITS = 18;
const MAX_DECIMALS = 5;

function amountElement(signed: string, currency: string): string {
  const [integer = '', fraction = ''] = signed.replace('-', '').split('.');
  const decimals = fraction.replace(/(?<!0)0+$/, '');
  if (decimals.length > MAX_DECIMALS || integer.replace(/^0+/, '').length + decimals.length > MAX_DIGITS) {
    throw new UnwritableAmount(
      `camt.053 has room for amounts of ${MAX_DIGITS} digits, ${MAX_DECIMALS} of them after the point, and ${signed} ${currency} has more; request pdf or csv`,
    );
  }
  const kept = fraction.slice(0, Math.max(decimals.length, Math.min(fraction.length, MAX_DECIMALS)));
  const shown = integer.length + kept.length > MAX_DIGITS ? decimals : kept;
  return `<Amt Ccy="${currency}">${integer}${shown && `.${shown}`}</Amt>`;
}

/** An amount that does not fit the message's schema. Nothing is rounded, so there is no statement in this format. */
export class UnwritableAmount extends Error {}

function indicator(signed: string, known?: 'Credit' | 'Debit'): string {
  return known === 'Debit' || (!known && signed.startsWith('-')) ? 'DBIT' : 'CRDT';
}
