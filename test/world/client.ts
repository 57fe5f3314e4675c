import { randomUUID } from 'node:crypto';
import type { TestService } from './service.ts';

export interface Hired {
  contactId: string;
  email: string;
}

/** A client with a contact that has the default permissions, and everything that a payment needs. */
export async function createWorld(
  test: Pick<TestService, 'operator' | 'signIn'>,
  name = 'Acme Ltd',
  client: object = {},
) {
  const email = `${randomUUID()}@example.com`;
  const password = 'correct horse battery staple';
  const created = await test.operator('POST', '/clients', { client_name: name, ...client });
  const clientId: string = created.body.client_id;
  /** Another contact of the client, with the default permissions unless others are given. */
  const hire = async (person: string, fields: object = {}, permissions?: string[]): Promise<Hired> => {
    const contact = { name: person, email: `${randomUUID()}@example.com`, ...fields };
    const clients = [{ client_id: clientId, ...(permissions ? { permissions } : {}) }];
    const hired = await test.operator('POST', '/contacts', { ...contact, clients });
    if (hired.status !== 201) throw new Error(`no contact: ${hired.status} ${hired.text}`);
    return { contactId: hired.body.contact_id, email: contact.email };
  };
  const { contactId } = await hire(`Owner of ${name}`, { email, password });
  const beneficiary = await test.operator('POST', '/beneficiaries', {
    client_id: clientId,
    beneficiary_name: 'Müller GmbH',
    iban: 'DE89370400440532013000',
    swift_code: 'COBADEFFXXX',
    currency: 'EUR',
  });
  const trade = await test.operator('POST', '/trades', {
    client_id: clientId,
    contact_id: contactId,
    buy_currency: 'EUR',
    sell_currency: 'GBP',
    buy_amount: 100_000,
    rate: 1.17,
  });
  const base = {
    client_id: clientId,
    contact_id: contactId,
    trade_id: trade.body.trade_id,
    beneficiary_id: beneficiary.body.beneficiary_id,
    amount: 100,
    payment_currency: 'EUR',
    // Never due, whenever the tests run.
    payment_date: '2099-12-01',
  };
  return {
    clientId,
    contactId,
    email,
    password,
    base,
    tradeId: trade.body.trade_id as string,
    beneficiaryId: beneficiary.body.beneficiary_id as string,
    hire,
    signIn: () => test.signIn(email, password),
    pay: async (fields: object = {}) => test.operator('POST', '/payments', { ...base, ...fields }),
  };
}
