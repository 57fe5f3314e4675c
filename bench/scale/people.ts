/** Clients with everything that a payment needs, created by imports. */
import { Readable } from 'node:stream';
import { callOperator } from '../../src/cli/operator-call.ts';
import type { ImportAnswer } from '../../src/imports/import.ts';
import { type FedService, TOKEN } from '../feed/service.ts';

/** A client, its creator and approver of payments, a beneficiary and a trade. */
export interface Party {
  client: string;
  creator: string;
  approver: string;
  beneficiary: string;
  trade: string;
}

/** The party of a client. @param name used for everything but the client */
export function partyOf(client: string, name = client): Party {
  return {
    client,
    creator: `${name}-A`,
    approver: `${name}-B`,
    beneficiary: `${name}-D`,
    trade: `${name}-T`,
  };
}

/** Imports each party's missing records, except its client. */
export async function importParties(service: FedService, parties: Party[]): Promise<void> {
  for (const role of ['creator', 'approver'] as const)
    await importLines(
      service,
      'contacts',
      parties.map((party) => ({
        contact_id: party[role],
        name: party[role],
        email: `${party[role]}@example.com`,
        clients: [{ client_id: party.client }],
      })),
    );
  await importLines(
    service,
    'beneficiaries',
    parties.map(({ client, beneficiary }) => ({
      client_id: client,
      beneficiary_id: beneficiary,
      beneficiary_name: 'Payee',
      account_number: '12345678',
    })),
  );
  await importLines(
    service,
    'trades',
    parties.map(({ client, creator, trade }) => ({
      client_id: client,
      contact_id: creator,
      trade_id: trade,
      buy_currency: 'EUR',
      sell_currency: 'GBP',
      buy_amount: 1_170,
      rate: 1.17,
    })),
  );
}

/** Clients whose payments need one approval. */
export async function importClients(service: FedService, parties: Party[]): Promise<void> {
  await importLines(
    service,
    'clients',
    parties.map(({ client }) => ({
      client_id: client,
      client_name: client,
      payment_approvals_enabled: true,
      authorisation_workflow: '4-eyes',
    })),
  );
}

/** A payment of a party, as the operator sends it. */
export function paymentOf({ client, creator, beneficiary, trade }: Party, more: object = {}): object {
  return {
    client_id: client,
    contact_id: creator,
    trade_id: trade,
    beneficiary_id: beneficiary,
    amount: 100,
    payment_currency: 'EUR',
    payment_date: '2026-12-01',
    reference: 'Invoice',
    ...more,
  };
}

/** Runs one import; existing records stay as they are. @throws if a line was refused */
export async function importLines(service: FedService, kind: string, lines: object[]): Promise<void> {
  const chunks = function* () {
    for (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`);
  };
  const answer = (await callOperator(
    { url: service.operator, token: TOKEN },
    {
      method: 'POST',
      path: `/imports/${kind}?on_conflict=skip`,
      body: Readable.from(chunks(), { objectMode: false }),
      headers: { 'content-type': 'application/x-ndjson' },
    },
  )) as ImportAnswer;
  if (answer.rejected > 0) throw new Error(`${kind}: ${JSON.stringify(answer).slice(0, 500)}`);
}
