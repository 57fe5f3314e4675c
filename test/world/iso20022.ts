import { readFileSync } from 'node:fs';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';

/** ISO 20022 messages: files to send, and checks of the messages that come back. */

const SCHEMAS = {
  'pain.001.001.03': '../../src/iso20022/schemas/pain.001.001.03.xsd',
  'pain.001.001.09': '../../src/iso20022/schemas/pain.001.001.09.xsd',
  'pain.002.001.10': '../iso20022/schemas/pain.002.001.10.xsd',
  'camt.053.001.08': '../iso20022/schemas/camt.053.001.08.xsd',
};
type Message = keyof typeof SCHEMAS;

export function schemaOf(message: Message): URL {
  return new URL(SCHEMAS[message], import.meta.url);
}

const validators = new Map<Message, XsdValidator>();

/**
 * Validates a message against its published schema.
 * @returns the texts that each XPath finds; `m:` is the message's namespace
 */
export function validated(message: Message, xml: string, ...paths: string[]): string[][] {
  const known = validators.get(message);
  const validator = known ?? XsdValidator.fromDoc(XmlDocument.fromBuffer(readFileSync(schemaOf(message))));
  validators.set(message, validator);
  const document = XmlDocument.fromString(xml);
  try {
    validator.validate(document);
    const namespaces = { m: `urn:iso:std:iso:20022:tech:xsd:${message}` };
    return paths.map((path) => document.find(path, namespaces).map((node) => node.content));
  } finally {
    document.dispose();
  }
}

/** A transaction of a file. Undefined fields get their defaults; empty fields are left out. */
export interface TransferSketch {
  endToEndId?: string;
  instructionId?: string;
  uetr?: string;
  amount?: string;
  currency?: string;
  charges?: string;
  /** Elements within CdtrAgt/FinInstnId, Cdtr and CdtrAcct/Id, and after CdtrAcct. */
  agent?: string;
  creditor?: string;
  account?: string;
  rest?: string;
  /** The whole element Amt. */
  amountElement?: string;
}

/** A block of a file. */
export interface BlockSketch {
  id?: string;
  method?: string;
  count?: string;
  sum?: string;
  day?: string;
  /** Elements within DbtrAcct. */
  debtor?: string;
  type?: string;
  charges?: string;
  transfers: TransferSketch[];
}

export interface FileSketch {
  message?: 'pain.001.001.03' | 'pain.001.001.09';
  messageId: string;
  count?: string;
  sum?: string;
  blocks: BlockSketch[];
}

const tag = (name: string, content: string | undefined) => (content ? `<${name}>${content}</${name}>` : '');

/** A payee in Germany who is paid in EUR. */
export const MUELLER = {
  agent: '<BICFI>DEUTDEFF</BICFI>',
  creditor:
    '<Nm>Müller &amp; Söhne GmbH</Nm><PstlAdr><StrtNm>Lindenstrasse</StrtNm><BldgNb>7</BldgNb><PstCd>10969</PstCd><TwnNm>Berlin</TwnNm><Ctry>DE</Ctry></PstlAdr>',
  account: '<IBAN>DE89370400440532013000</IBAN>',
};

/** A pain.001 as text. NbOfTxs of the file is the real number; sums are left out unless given. */
export function pain001({ message = 'pain.001.001.09', messageId, count, sum, blocks }: FileSketch): string {
  const transfers = blocks.flatMap((block) => block.transfers);
  const old = message.endsWith('03');
  const header =
    tag('MsgId', messageId) +
    tag('CreDtTm', '2026-07-01T09:30:00') +
    tag('NbOfTxs', count ?? String(transfers.length)) +
    tag('CtrlSum', sum) +
    tag('InitgPty', tag('Nm', 'Acme'));
  const body = blocks.map((block, index) => blockElement(block, { index, old })).join('\n');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${message}"><CstmrCdtTrfInitn>${tag('GrpHdr', header)}\n${body}</CstmrCdtTrfInitn></Document>\n`;
}

function blockElement(block: BlockSketch, { index, old }: { index: number; old: boolean }): string {
  const {
    id = `BLOCK-${index}`,
    method = 'TRF',
    day = '2026-07-02',
    debtor = '<Id><Othr><Id>1</Id></Othr></Id>',
  } = block;
  return tag(
    'PmtInf',
    tag('PmtInfId', id) +
      tag('PmtMtd', method) +
      tag('NbOfTxs', block.count) +
      tag('CtrlSum', block.sum) +
      tag('PmtTpInf', block.type) +
      tag('ReqdExctnDt', old ? day : tag(day.includes('T') ? 'DtTm' : 'Dt', day)) +
      tag('Dbtr', tag('Nm', 'Acme')) +
      tag('DbtrAcct', debtor) +
      tag('DbtrAgt', tag('FinInstnId', old ? '<BIC>BARCGB22</BIC>' : '<BICFI>BARCGB22</BICFI>')) +
      tag('ChrgBr', block.charges) +
      block.transfers
        .map((transfer, number) => `\n${transferElement(transfer, `E2E-${index}-${number}`, old)}`)
        .join(''),
  );
}

function transferElement(transfer: TransferSketch, id: string, old: boolean): string {
  const { endToEndId = id, amount = '100.00', currency = 'EUR', agent = MUELLER.agent } = transfer;
  return tag(
    'CdtTrfTxInf',
    tag('PmtId', tag('InstrId', transfer.instructionId) + tag('EndToEndId', endToEndId) + tag('UETR', transfer.uetr)) +
      tag('Amt', transfer.amountElement ?? `<InstdAmt Ccy="${currency}">${amount}</InstdAmt>`) +
      tag('ChrgBr', transfer.charges) +
      tag('CdtrAgt', tag('FinInstnId', old ? agent.replaceAll('BICFI', 'BIC') : agent)) +
      tag('Cdtr', transfer.creditor ?? MUELLER.creditor) +
      tag('CdtrAcct', tag('Id', transfer.account ?? MUELLER.account)) +
      (transfer.rest ?? ''),
  );
}
