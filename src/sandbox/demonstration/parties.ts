import type { Transaction } from '../../database/database.ts';
import { SANDBOX_CLIENT_SUBJECT } from '../../embedded/test-subject.ts';
import { createApplication } from '../../identity/applications/application.ts';
import type { ImportScope } from '../../imports/kind.ts';
import { beneficiaryImport } from '../../imports/kinds/beneficiaries.ts';
import { clientImport } from '../../imports/kinds/clients.ts';
import { contactImport } from '../../imports/kinds/contacts.ts';
import { addDays } from '../../values/calendar.ts';
import { demonstrationPayees } from './banks.ts';
import { type ChosenClient, DEMO_APPLICATION, DEMO_CLIENTS, DEMO_CONTACTS, DEMO_PASSWORD } from './institution.ts';
import { putRecords } from './records.ts';

/** Days since the clients were created. */
const CLIENT_SINCE_DAYS = 800;

/** Creates clients, contacts and the application. @param today London day */
export async function putParties(tx: Transaction, scope: ImportScope, today: string): Promise<void> {
  await putRecords(
    tx,
    scope,
    clientImport,
    DEMO_CLIENTS.map(({ client_id, client_name, account_number }) => ({
      client_id,
      client_name,
      account_number,
      authorisation_workflow: '4-eyes' as const,
      payment_approvals_enabled: true,
      became_client: addDays(today, -CLIENT_SINCE_DAYS),
    })),
  );
  const contacts = DEMO_CONTACTS.map((contact) => ({
    ...contact,
    password: DEMO_PASSWORD,
    phone: '+44 20 7946 0000',
    trusted_access: true,
  }));
  await putRecords(tx, scope, contactImport, contacts);
  await putApplication(tx, scope);
}

/** Creates beneficiaries. @param chosen whether a client's beneficiaries are created */
export async function putBeneficiaries(tx: Transaction, scope: ImportScope, chosen: ChosenClient): Promise<void> {
  const beneficiaries = DEMO_CLIENTS.flatMap(({ client_id: clientId }, index) =>
    chosen(clientId) ? demonstrationPayees(clientId, index) : [],
  );
  await putRecords(tx, scope, beneficiaryImport, beneficiaries);
}

async function putApplication(tx: Transaction, { act, vault }: ImportScope): Promise<void> {
  const { client_secret: secret, redirect_uri: redirect, ...application } = DEMO_APPLICATION;
  await createApplication(tx, act, vault, {
    ...application,
    redirect_uris: [redirect],
    // The client certificate that the sandbox makes, so that the trusted address can also be tried.
    certificate_subjects: [SANDBOX_CLIENT_SUBJECT],
    trusted_clients: DEMO_CLIENTS.map(({ client_id }) => client_id),
  });
  // Replaces the random secret with a known one, so that printed commands work unchanged.
  await tx.query('update application_secrets set secret = $2 where application_id = $1', [
    application.client_id,
    vault.seal(secret, 'application_secrets'),
  ]);
}
