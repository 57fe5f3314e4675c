import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { InvalidInstruction, MassPayment, TakenMassPayment } from '../../sdk/src/generated/api.ts';
import { amountField } from './amount.ts';
import { call, callFile, callText, type FileAnswer } from './call.ts';
import { CallError } from './call-error.ts';
import { callClient } from './client-api.ts';
import type { Page, Proof } from './payments.ts';

export type { MassPayment };

/** A file of payments, with the name of its sender. */
export interface ListedFile {
  file: MassPayment;
  made_by: string;
}

export interface ShownFile extends ListedFile {
  new_payees: string[];
  /** True if its rows are lines below a header. */
  has_lines: boolean;
}

/** A row that cannot be processed. Its own fields are those that were sent. */
export type FailedRow = InvalidInstruction & Record<string, unknown>;

export const FILES_SHOWN = 25;
export const FAILED_SHOWN = 25;
/** How often the page of a file is refreshed: while the file is being processed, and otherwise. */
const BUSY_MS = 1_000;
const QUIET_MS = 10_000;
/** Files are large, and connections can be slow. */
const UPLOAD_TIMEOUT_MS = 300_000;

const BUSY: readonly MassPayment['mass_payment_status'][] = [
  'Queued for processing',
  'Processing',
  'Queued for creating',
  'Creating',
];

/** Whether the file is being processed, so that the page must follow it. */
export function isBusy({ mass_payment_status: status }: MassPayment): boolean {
  return BUSY.includes(status);
}

export const filesKey = (clientId: string) => ['files', clientId];

/** A page of the files, newest first. */
export const filesQuery = (clientId: string, page: number) =>
  queryOptions({
    queryKey: [...filesKey(clientId), 'list', page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Page<ListedFile>> => {
      const query = { client_id: clientId, page, page_size: FILES_SHOWN };
      const { body, total = 0 } = await call<ListedFile[]>('GET', '/app/data/files', { query, signal });
      return { rows: body, total, page };
    },
    refetchInterval: ({ state }) => (state.data?.rows.some(({ file }) => isBusy(file)) ? BUSY_MS : QUIET_MS),
  });

/** A file, refreshed while it is being processed. */
export const fileQuery = (clientId: string, id: string) =>
  queryOptions({
    queryKey: [...filesKey(clientId), id],
    queryFn: async ({ signal }) => {
      const query = { client_id: clientId };
      return (await call<ShownFile>('GET', `/app/data/files/${encodeURIComponent(id)}`, { query, signal })).body;
    },
    refetchInterval: ({ state }) => (state.data && isBusy(state.data.file) ? BUSY_MS : QUIET_MS),
  });

/** A page of the failed rows. @param count their number: when it grows, they are read again */
export const failedQuery = (clientId: string, id: string, { page, count }: { page: number; count: number }) =>
  queryOptions({
    queryKey: [...filesKey(clientId), id, 'failed', page, count],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Page<FailedRow>> => {
      const given = { path: { mass_payment_id: id }, query: { page, page_size: FAILED_SHOWN }, signal };
      const { body, total = 0 } = await callClient('GET /mass-payments/{mass_payment_id}/errors', clientId, given);
      return { rows: body as FailedRow[], total, page };
    },
  });

/** The failed rows, as a file. */
export function downloadErrors(clientId: string, id: string): Promise<FileAnswer> {
  const headers = { accept: 'text/csv' };
  return callFile(`/app/data/files/${encodeURIComponent(id)}/errors.csv`, { query: { client_id: clientId }, headers });
}

/** The address of a CSV template. */
export function templateAddress(clientId: string, withPayees: boolean): string {
  const query = new URLSearchParams({ client_id: clientId, ...(withPayees ? { payees: 'true' } : {}) });
  return `/app/data/payments-template.csv?${query}`;
}

/** The type of a file, judged by its content. */
export type FileKind = 'json' | 'csv' | 'pain.001';

export function kindOf(text: string): FileKind {
  const begin = text.replace(/^\ufeff/, '').trimStart();
  if (begin.startsWith('<')) return 'pain.001';
  return begin.startsWith('{') || begin.startsWith('[') ? 'json' : 'csv';
}

/** The source of funds for the payments of a file. */
export interface PaidFrom {
  trade_id?: string;
  sell_currency?: string;
  funding_account_id?: number;
  reason?: string;
}

/** Sends a file: CSV, a JSON list of instructions, or a whole JSON body. A file that was sent before is refused. @throws CallError */
export async function sendFile(
  clientId: string,
  file: File,
  { kind, paidFrom }: { kind: FileKind; paidFrom: PaidFrom },
): Promise<string> {
  const content = await file.text();
  const fields = { external_reference_id: await referenceOf(file), auto_commit: false, ...paidFrom };
  const isList = content
    .replace(/^\ufeff/, '')
    .trimStart()
    .startsWith('[');
  // The text of a list is inserted unchanged, so that no digit of an amount is lost.
  const body = isList
    ? `${JSON.stringify(fields).slice(0, -1)},"payment_instructions":${content.replace(/^\ufeff/, '')}}`
    : content;
  const query = { client_id: clientId, ...(kind === 'csv' ? fields : {}) };
  const sent = new Blob([body], { type: kind === 'csv' ? 'text/csv' : 'application/json' });
  const given = { query, file: sent, timeoutMs: UPLOAD_TIMEOUT_MS };
  return (await call<TakenMassPayment>('POST', '/app/api/mass-payments', given)).body.mass_payment_id;
}

/** Bytes of the hash that identifies a file. */
const REFERENCE_BYTES = 16;

/** The same for equal files, so that a file that is sent twice is refused. */
async function referenceOf(file: File): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
  return `sha256:${[...hash.subarray(0, REFERENCE_BYTES)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The result of sending a pain.001. */
export interface Initiated {
  /** The files it became: one for each accepted block. */
  ids: string[];
  /** Why blocks were refused: the block, the code, and the service's message. */
  refused: string[];
}

/** Sends a pain.001. @throws CallError if all of it was refused; the details say why */
export async function sendInitiation(clientId: string, file: File): Promise<Initiated> {
  const query = { client_id: clientId };
  const sent = new Blob([file], { type: 'application/xml' });
  const options = { query, file: sent, headers: { accept: 'application/xml' }, timeoutMs: UPLOAD_TIMEOUT_MS };
  const report = await callText('/app/api/payment-initiations', options).catch((error: unknown) => {
    if (!(error instanceof CallError) || !error.details.trimStart().startsWith('<')) throw error;
    throw new CallError(error.status, {
      code: 'payment_initiation_refused',
      details: reasonsOf(error.details).join('\n'),
    });
  });
  const refused = reasonsOf(report);
  const messageId = textsOf(report, 'OrgnlMsgId')[0];
  const { body } = await callClient('GET /mass-payments', clientId, { query: { page_size: 100 } });
  const ids = body.filter((each) => each.payment_initiation_id === messageId).map((each) => each.mass_payment_id);
  return { ids, refused };
}

/** The reasons in a pain.002, each with its block. */
function reasonsOf(report: string): string[] {
  const document = new DOMParser().parseFromString(report, 'application/xml');
  return [...document.getElementsByTagNameNS('*', 'StsRsnInf')].map((reason) => {
    const inside = (name: string) =>
      [...reason.getElementsByTagNameNS('*', name)].map(({ textContent }) => textContent ?? '');
    const block = reason.parentElement?.getElementsByTagNameNS('*', 'OrgnlPmtInfId')[0]?.textContent;
    return [block, ...inside('Cd'), ...inside('AddtlInf')].filter(Boolean).join(' · ');
  });
}

function textsOf(report: string, name: string): string[] {
  const document = new DOMParser().parseFromString(report, 'application/xml');
  return [...document.getElementsByTagNameNS('*', name)].map(({ textContent }) => textContent ?? '');
}

/**
 * Confirms a file.
 * @param most in plain notation; empty accepts any price.
 * @throws CallError
 */
export async function confirmFile(
  clientId: string,
  id: string,
  { most, key, proof }: { most: string; key: string; proof: Proof | undefined },
): Promise<void> {
  const body = Object.assign(most === '' ? {} : amountField('maximum_sell_amount', most), proof);
  const given = { path: { mass_payment_id: id }, body: body as object, headers: { 'idempotency-key': key } };
  await callClient('POST /mass-payments/{mass_payment_id}/confirm', clientId, given);
}

/** Discards a file. @throws CallError */
export async function discardFile(clientId: string, id: string): Promise<void> {
  await callClient('DELETE /mass-payments/{mass_payment_id}', clientId, { path: { mass_payment_id: id } });
}

/** Opens the challenge for confirming a file. */
export async function openFileChallenge(clientId: string, id: string) {
  return (
    await callClient('POST /mass-payments/{mass_payment_id}/challenges', clientId, { path: { mass_payment_id: id } })
  ).body;
}
