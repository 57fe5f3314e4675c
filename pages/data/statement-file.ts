import type { FileAnswer } from './call.ts';
import { callClient, callClientFile } from './client-api.ts';

/** The formats of a downloaded statement. */
export const FILE_FORMATS = ['pdf', 'csv', 'camt053'] as const;

export interface WantedStatement {
  /** The number of the currency account. */
  accountId: number;
  /** The first and the last London day, `YYYY-MM-DD`; an empty last day means today. */
  from: string;
  to: string;
  format: (typeof FILE_FORMATS)[number];
}

/** How often the page asks for the file while the service makes it. */
const ASK_MS = 500;

/** Has the service make a statement, and downloads it. @throws CallError; DOMException `AbortError` */
export async function fetchStatement(
  clientId: string,
  { accountId, from, to, format }: WantedStatement,
  signal: AbortSignal,
): Promise<FileAnswer> {
  const path = { account_id: String(accountId) };
  const { body } = await callClient('POST /accounts/{account_id}/statements/file', clientId, {
    ...{ path, signal, query: { format }, headers: { 'idempotency-key': crypto.randomUUID() } },
    // The service refuses a missing field by name.
    body: { ...(from && { from_value_datetime: noon(from) }), ...(to && { to_value_datetime: noon(to) }) } as {
      from_value_datetime: string;
    },
  });
  const id = new URL(body.url).pathname.split('/').at(-2) ?? '';
  for (;;) {
    const file = await callClientFile('GET /accounts/{account_id}/statements/{statement_id}/file', clientId, {
      ...{ path: { ...path, statement_id: id }, signal },
    });
    if (!file.content.type.includes('json')) return file;
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
    signal.throwIfAborted();
  }
}

/** A moment of a London day: noon in UTC falls on the same day there all year. */
const noon = (day: string) => `${day}T12:00:00Z`;
