/** The contents of a pain.001, as far as the service reads it (docs/iso-20022.md). */

/** The messages that can be read, by namespace. */
export const MESSAGES = {
  'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09': 'pain.001.001.09',
  'urn:iso:std:iso:20022:tech:xsd:pain.001.001.03': 'pain.001.001.03',
} as const;
export type InitiationMessage = (typeof MESSAGES)[keyof typeof MESSAGES];

/** The most transactions of one file, over all its blocks. */
export const MAX_TRANSACTIONS = 5_000;

/** The file: its group header, and its blocks (PmtInf). */
export interface Initiation {
  message: InitiationMessage;
  /** MsgId. */
  messageId: string;
  /** CreDtTm as it was written. */
  createdAt: string;
  /** NbOfTxs as it was written. */
  count: string;
  /** CtrlSum as it was written. */
  sum: string | undefined;
  blocks: Block[];
}

/** A PmtInf: one account that pays, one day. */
export interface Block {
  /** PmtInfId. */
  id: string;
  count: string | undefined;
  sum: string | undefined;
  /** PmtMtd. */
  method: string;
  /** ReqdExctnDt: the day as YYYY-MM-DD; for a date-time with an offset, the London day. */
  day: string;
  /** DbtrAcct: its IBAN, or another number. */
  account: { iban: string } | { number: string };
  currency: string | undefined;
  transactions: Transfer[];
}

/** A CdtTrfTxInf as an instruction. */
export interface Transfer {
  /** The instruction as JSON, under the names of a mass payment's row. Its amount has the digits of the file. */
  text: string;
  /** What a row of JSON or CSV has no field for. */
  extra: Extra;
  /** InstdAmt, or the amount of EqvtAmt, which is what CtrlSum counts. */
  amount: string;
}

export interface Extra {
  /** EndToEndId. */
  end_to_end_id: string;
  /** UETR, which becomes the payment's. */
  uuid?: string;
  charges: 'SHA' | 'OUR';
  reason: 'salary_payroll' | 'payment_for_goods' | 'other';
  /** What the mapping cannot handle. It makes the row invalid. */
  faults?: RowFault[];
}

/** A fault of a row. */
export interface RowFault {
  /** Name of the row's field. */
  field: string;
  code: string;
  message: string;
}

/** Why a file is refused before anything is stored. */
export interface Refusal {
  code: 'FF01' | 'AM19' | 'AM10';
  /** MsgId, if it could be read. */
  messageId?: string | undefined;
  message?: InitiationMessage | undefined;
  /** What is wrong, in a sentence that repeats nothing from the file. */
  details: string;
}
