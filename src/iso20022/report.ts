import { element, optional, text } from '../values/xml.ts';
import type { GroupStatus, Reason, Reported } from './status.ts';

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:pain.002.001.10';
/** The most characters of a text in a reason. */
const MAX_INFORMATION = 105;
/** The most characters of an identifier. */
const MAX_IDENTIFIER = 35;
/** The number of characters of a UETR, which is a UUID. */
const MAX_UETR = 36;
/** Replaces an identifier that could not be read. */
const NOT_PROVIDED = 'NOTPROVIDED';

/** A pain.002: what became of a pain.001. An undefined field could not be read, or is not reported. */
export interface StatusReport {
  /** MsgId of the report, at most 35 characters. */
  reportId: string;
  /** CreDtTm: an ISO 8601 date-time. */
  createdAt: string;
  original: {
    messageId: string | undefined;
    message: string | undefined;
    createdAt?: string | undefined;
    count?: string | undefined;
    sum?: string | undefined;
  };
  status: GroupStatus;
  reasons?: readonly Reason[];
  blocks?: readonly BlockReport[];
}

export interface BlockReport {
  /** PmtInfId. */
  id: string;
  count?: string | undefined;
  sum?: string | undefined;
  status: GroupStatus;
  reasons: readonly Reason[];
  transactions: readonly TransactionReport[];
}

export interface TransactionReport extends Reported {
  instructionId: string | null;
  endToEndId: string;
  uetr: string | null;
  /** The payment, once there is one. */
  paymentId: string | null;
}

/** The message pain.002.001.10. Whatever the texts are, it conforms to the schema. */
export function pain002(report: StatusReport): string {
  const { reportId, createdAt, original, status, reasons = [], blocks = [] } = report;
  const header = element('MsgId', text(reportId, MAX_IDENTIFIER)) + element('CreDtTm', createdAt);
  const group =
    element('OrgnlMsgId', text(original.messageId ?? NOT_PROVIDED, MAX_IDENTIFIER)) +
    element('OrgnlMsgNmId', text(original.message ?? NOT_PROVIDED, MAX_IDENTIFIER)) +
    optional('OrgnlCreDtTm', original.createdAt, MAX_IDENTIFIER) +
    totals(original) +
    element('GrpSts', status) +
    reasonElements(reasons);
  const body = element('GrpHdr', header) + element('OrgnlGrpInfAndSts', group) + blocks.map(blockElement).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${NAMESPACE}">${element('CstmrPmtStsRpt', body)}</Document>\n`;
}

function totals({ count, sum }: { count?: string | undefined; sum?: string | undefined }): string {
  return optional('OrgnlNbOfTxs', count, MAX_IDENTIFIER) + optional('OrgnlCtrlSum', sum, MAX_IDENTIFIER);
}

function blockElement(block: BlockReport): string {
  const content =
    element('OrgnlPmtInfId', text(block.id, MAX_IDENTIFIER)) +
    totals(block) +
    element('PmtInfSts', block.status) +
    reasonElements(block.reasons) +
    block.transactions.map((transaction) => `\n${transactionElement(transaction)}`).join('');
  return `\n${element('OrgnlPmtInfAndSts', content)}`;
}

function transactionElement(transaction: TransactionReport): string {
  const content =
    optional('OrgnlInstrId', transaction.instructionId, MAX_IDENTIFIER) +
    element('OrgnlEndToEndId', text(transaction.endToEndId, MAX_IDENTIFIER)) +
    optional('OrgnlUETR', transaction.uetr, MAX_UETR) +
    element('TxSts', transaction.status) +
    reasonElements(transaction.reasons) +
    optional('AcctSvcrRef', transaction.paymentId, MAX_IDENTIFIER);
  return element('TxInfAndSts', content);
}

function reasonElements(reasons: readonly Reason[]): string {
  return reasons
    .map(({ code, information }) =>
      element(
        'StsRsnInf',
        element('Rsn', element('Cd', code)) + element('AddtlInf', text(information, MAX_INFORMATION)),
      ),
    )
    .join('');
}
