import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { MassBeneficiary, MassBeneficiaryError, TakenMassBeneficiary } from '../../sdk/src/generated/api.ts';
import { callClient, sendClientFile } from './client-api.ts';

/** The columns of a file of payees, under the API's names. */
export const PAYEE_COLUMNS = [
  ...['name', 'country_code', 'bank_country_code', 'bank_currency_code', 'iban', 'account_number', 'bank_identifier'],
  ...['swift_code', 'bank_name', 'bank_address_line_1', 'correspondent_account', 'correspondent_swift_code'],
  ...['address_line_1', 'city', 'state_region', 'post_code', 'purpose_of_payment', 'reason_for_trade'],
  ...['beneficiary_reference', 'reference_information', 'email_notification', 'email_addresses'],
];

/**
 * Sends a file of payees, CSV or JSON.
 * @returns the id of the upload.
 * @throws CallError
 */
export async function sendPayees(clientId: string, file: File): Promise<string> {
  const type = /\.json$/i.test(file.name) ? 'application/json' : 'text/csv';
  const given = { file: new Blob([file], { type }), headers: { 'idempotency-key': crypto.randomUUID() } };
  const { body } = await sendClientFile('POST /mass-beneficiaries', clientId, given);
  return (body as TakenMassBeneficiary).mass_beneficiary_id;
}

const BUSY_MS = 1_000;

/** Whether all payees of a file have been processed. */
export function isDone({ status }: MassBeneficiary): boolean {
  return status === 'created' || status === 'failed';
}

/** The progress of a file of payees; refreshed until it is done. */
export const payeeFileQuery = (clientId: string, id: string) =>
  queryOptions({
    queryKey: ['payee-file', clientId, id],
    queryFn: async ({ signal }): Promise<MassBeneficiary> => {
      const path = { mass_beneficiary_id: id };
      return (await callClient('GET /mass-beneficiaries/{mass_beneficiary_id}', clientId, { path, signal })).body;
    },
    refetchInterval: ({ state }) => (state.data && isDone(state.data) ? false : BUSY_MS),
  });

/** Faults per page. */
export const FAULTS_SHOWN = 20;

/** A page of the faults in a file's payees, in the order of its rows. */
export const payeeFaultsQuery = (clientId: string, id: string, page: number) =>
  queryOptions({
    queryKey: ['payee-file', clientId, id, 'faults', page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<{ rows: MassBeneficiaryError[]; total: number }> => {
      const given = { path: { mass_beneficiary_id: id }, query: { page, page_size: FAULTS_SHOWN }, signal };
      const operation = 'GET /mass-beneficiaries/{mass_beneficiary_id}/errors';
      const { body, total = 0 } = await callClient(operation, clientId, given);
      return { rows: body, total };
    },
  });
