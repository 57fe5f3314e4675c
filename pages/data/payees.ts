import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type {
  Beneficiary,
  BeneficiaryChange,
  BeneficiaryNeeds,
  BeneficiaryOrder,
} from '../../sdk/src/generated/api.ts';
import { call } from './call.ts';
import { CallError } from './call-error.ts';
import { callClient } from './client-api.ts';

export type { Beneficiary, BeneficiaryNeeds };

/** Payees per page of the list. */
export const PAYEES_SHOWN = 25;

/** The key of all lists of a client's payees. */
export const payeesKey = (clientId: string) => ['payees', clientId];

/** A page of the payees; with a text, of those whose names contain it. */
export const payeesQuery = (clientId: string, text: string, page: number) =>
  queryOptions({
    queryKey: [...payeesKey(clientId), text, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<{ rows: Beneficiary[]; total: number }> => {
      const query = { page, page_size: PAYEES_SHOWN };
      const { body, total = 0 } = await (text === ''
        ? callClient('GET /beneficiaries', clientId, { query, signal })
        : call<Beneficiary[]>('POST', '/app/data/payees/search', {
            ...{ query: { client_id: clientId, ...query }, body: { q: text }, signal },
          }));
      return { rows: body, total };
    },
  });

/** One payee; null if the client has none of this id. */
export const payeeQuery = (clientId: string, id: string) =>
  queryOptions({
    queryKey: ['payee', clientId, id],
    queryFn: async ({ signal }) => (await findPayee(clientId, id, signal)) ?? null,
  });

/** A payee; undefined if somebody has deleted it meanwhile. */
async function findPayee(clientId: string, id: string, signal: AbortSignal): Promise<Beneficiary | undefined> {
  const path = { beneficiary_id: id };
  try {
    return (await callClient('GET /beneficiaries/{beneficiary_id}', clientId, { path, signal })).body;
  } catch (error) {
    if (error instanceof CallError && error.status === 404) return undefined;
    throw error;
  }
}

/** The required fields of payees, by the country of their bank. Fetched once per document. */
export const needsQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['payee-needs'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) =>
      (await callClient('GET /metadata/beneficiary', clientId, { query: {}, signal })).body,
  });

/** The texts of a form under the API's names. An empty one is left out, or cleared. */
export type PayeeFields = Record<string, string>;

interface Saving {
  clientId: string;
  /** The payee to change; without it, a new one is made. */
  id?: string | undefined;
  fields: PayeeFields;
  /** The same for every retry of one save. */
  key: string;
}

/**
 * Saves a payee.
 * @returns the payee, if it is new.
 * @throws CallError with all faults
 */
export function savePayee({ clientId, id, fields, key }: Saving): Promise<Beneficiary | undefined> {
  return send({ clientId, id, fields, headers: { 'idempotency-key': key } });
}

/** The faults that saving would report; nothing is saved. */
export async function tryPayee(given: Omit<Saving, 'key'>, signal: AbortSignal): Promise<CallError | undefined> {
  try {
    await send({ ...given, query: { validate_only: true }, signal });
    return undefined;
  } catch (error) {
    if (error instanceof CallError) return error;
    throw error;
  }
}

interface Sending extends Omit<Saving, 'key'> {
  query?: { validate_only: true };
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

async function send({ clientId, id, fields, ...given }: Sending): Promise<Beneficiary | undefined> {
  if (id === undefined) {
    const body = Object.fromEntries(Object.entries(fields).filter(([, text]) => text !== ''));
    return (await callClient('POST /beneficiaries', clientId, { ...given, body: body as unknown as BeneficiaryOrder }))
      .body;
  }
  const path = { beneficiary_id: id };
  const cleared = Object.entries(fields).map(([name, text]) => [name, text === '' ? null : text]);
  const body = Object.fromEntries(cleared) as BeneficiaryChange;
  await callClient('PATCH /beneficiaries/{beneficiary_id}', clientId, { ...given, path, body });
  return undefined;
}

/** Deletes a payee. @throws CallError */
export async function deletePayee(clientId: string, id: string): Promise<void> {
  await callClient('DELETE /beneficiaries/{beneficiary_id}', clientId, { path: { beneficiary_id: id } });
}
