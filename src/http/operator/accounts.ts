import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import {
  ACCOUNT_STATUSES,
  ACCOUNT_SUBTYPES,
  ACCOUNT_TYPES,
  createAccount,
  listAccounts,
  MAX_ACCOUNT_DETAILS,
  readAccount,
  updateAccount,
} from '../../accounts/account.ts';
import { createCurrencyAccount, listCurrencyAccounts } from '../../accounts/currency-account.ts';
import { bookTransaction, TRANSACTION_KINDS, type TransactionInput } from '../../accounts/transaction.ts';
import type { Context } from '../../context.ts';
import { recordOnboarding } from '../../identity/onboarding.ts';
import { MAX_RATES, type RatesInput, readRates, setRates } from '../../quotes/exchange-rates.ts';
import { FX_MODES, MAX_HOLIDAYS, readFxAvailability, setFxAvailability } from '../../quotes/fx-availability.ts';
import {
  ClientId,
  Currency,
  closed,
  Day,
  Decimal,
  errors,
  Id,
  Instant,
  Nullable,
  Paging,
  Text,
  Uuid,
} from '../schemas.ts';
import { change, FEED, READ, sendList, sendValue } from './listener.ts';

const text = (description: string) => Type.Optional(Nullable(Text(description)));

const Details = Type.Array(
  Type.Object(
    {
      account_address: text('Address of the account'),
      account_name: text('Name of the account'),
      account_number: text('IBAN or domestic number'),
      account_number_type: Type.Optional(Nullable(Type.Enum(['IBAN', 'BBAN']))),
      bank_identifier: text('BIC or clearing code'),
      bank_identifier_type: Type.Optional(
        Nullable(
          Type.String({ pattern: '^[A-Z]{5}$', description: 'SWBIC, or an ISO 20022 clearing system as GBDSC, USABA' }),
        ),
      ),
    },
    closed,
  ),
  { maxItems: MAX_ACCOUNT_DETAILS },
);
const AccountBody = Type.Object(
  {
    client_id: ClientId,
    currency: Currency(),
    account_id: Type.Optional(Uuid('Given by the core, else made')),
    account_type: Type.Optional(Type.Enum([...ACCOUNT_TYPES])),
    account_subtype: Type.Optional(Type.Enum([...ACCOUNT_SUBTYPES])),
    status: Type.Optional(Type.Enum([...ACCOUNT_STATUSES])),
    account_details: Type.Optional(Details),
  },
  {
    ...closed,
    examples: [
      {
        client_id: 'CLI000001',
        currency: 'EUR',
        account_details: [{ account_number: 'GB29NWBK60161331926819', account_number_type: 'IBAN' }],
      },
    ],
  },
);
const AccountPatch = Type.Object(
  { status: Type.Optional(Type.Enum([...ACCOUNT_STATUSES])), account_details: Type.Optional(Details) },
  closed,
);
const CurrencyAccountBody = Type.Object(
  { client_id: ClientId, currency: Currency() },
  { ...closed, examples: [{ client_id: 'CLI000001', currency: 'EUR' }] },
);
const Party = Type.Object(
  {
    account_name: text('Name'),
    account_number: text('Account number'),
    bank_identifier: text('Bank identifier'),
    bank_identifier_code: text('Bank identifier code'),
    iban: text('IBAN'),
    swift: text('BIC'),
  },
  closed,
);
export const TransactionBody = Type.Object(
  {
    client_id: ClientId,
    currency_account_id: Type.Integer({ minimum: 1, description: 'Currency account' }),
    kind: Type.Enum([...TRANSACTION_KINDS]),
    amount: Type.Object({ amount: Decimal('Amount'), currency: Currency() }, closed),
    transaction_id: Type.Optional(Id('Given by the core, else a UUID')),
    creditor_name: text('Creditor'),
    creditor_account: Type.Optional(Nullable(Party)),
    debtor_name: text('Debtor'),
    debtor_account: Type.Optional(Nullable(Party)),
    transaction_reference: text('Reference'),
    transaction_information: text('Information'),
    additional_transaction_information: text('Further information'),
    booking_datetime: Type.Optional(Instant('When it was booked; now where absent')),
    value_datetime: Type.Optional(Instant('Value date; the booking where absent')),
  },
  {
    ...closed,
    examples: [
      {
        client_id: 'CLI000001',
        currency_account_id: 1,
        kind: 'CREDIT_INCOMING_TRANSACTION',
        amount: { amount: '1500.00', currency: 'EUR' },
        debtor_name: 'Müller GmbH',
      },
    ],
  },
);
const OnboardingBody = Type.Object(
  {
    client_id: ClientId,
    onboarding_status: Text('The new status', 128),
    id: Type.Optional(Text('Identifier of the onboarding; the client where absent', 128)),
    type: Type.Optional(Text('Type of the entity', 128)),
    account_number: text('Number that the institution knows the client by'),
    service_id: text('Identifier with the service'),
    became_client: Type.Optional(Nullable(Day('When it became a client'))),
  },
  { ...closed, examples: [{ client_id: 'CLI000001', onboarding_status: 'Active' }] },
);
const FxBody = Type.Object(
  {
    mode: Type.Enum([...FX_MODES]),
    holidays: Type.Optional(Type.Array(Day('A day without markets'), { maxItems: MAX_HOLIDAYS })),
  },
  { ...closed, examples: [{ mode: 'auto', holidays: ['2026-12-25'] }] },
);
const RatesBody = Type.Object(
  {
    base_currency: Currency('One unit of it ...'),
    rates: Type.Record(Type.String(), Decimal('... is that many'), { minProperties: 1, maxProperties: MAX_RATES }),
    as_of: Type.Optional(Instant('When the rates were true')),
  },
  { ...closed, examples: [{ base_currency: 'GBP', rates: { USD: 1.25, EUR: 1.17 } }] },
);
const ListQuery = Type.Object({ ...Paging, client_id: Type.Optional(Type.String({ minLength: 1 })) });
const ClientQuery = Type.Object({ client_id: Type.String({ minLength: 1 }) });

/** Accounts, transactions, onboarding events, FX availability and exchange rates (docs/operator-interface.md). */
export function operatorAccountRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  app.post<{ Body: Static<typeof AccountBody> }>(
    '/accounts',
    {
      config: FEED,
      schema: {
        tags: ['accounts'],
        summary: 'Open an account',
        body: AccountBody,
        response: errors(400, 404, 409, 502),
      },
    },
    (request, reply) => change(request, reply, context, 201, (tx, act) => createAccount(tx, act, request.body)),
  );
  app.get<{ Querystring: { page: number; page_size: number; client_id?: string } }>(
    '/accounts',
    {
      config: READ,
      schema: { tags: ['accounts'], summary: 'List accounts', querystring: ListQuery, response: errors(400, 502) },
    },
    async (request, reply) =>
      sendList(reply, await listAccounts(pool, request.query.page, request.query.page_size, request.query.client_id)),
  );
  app.get<{ Params: { account_id: string } }>(
    '/accounts/:account_id',
    {
      config: READ,
      schema: {
        tags: ['accounts'],
        summary: 'Read an account',
        params: Type.Object({ account_id: Uuid('Account') }),
        response: errors(400, 404, 502),
      },
    },
    (request) => readAccount(pool, request.params.account_id),
  );
  app.patch<{ Params: { account_id: string }; Body: Static<typeof AccountPatch> }>(
    '/accounts/:account_id',
    {
      config: FEED,
      schema: {
        tags: ['accounts'],
        summary: 'Change an account',
        params: Type.Object({ account_id: Uuid('Account') }),
        body: AccountPatch,
        response: errors(400, 404, 409, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 200, (tx, act) =>
        updateAccount(tx, act, request.params.account_id, request.body),
      ),
  );
  app.post<{ Body: Static<typeof CurrencyAccountBody> }>(
    '/currency-accounts',
    {
      config: FEED,
      schema: {
        tags: ['accounts'],
        summary: 'Open a currency account',
        body: CurrencyAccountBody,
        response: errors(400, 404, 409, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 201, (tx, act) =>
        createCurrencyAccount(tx, act, request.body.client_id, request.body.currency),
      ),
  );
  app.get<{ Querystring: { client_id: string } }>(
    '/currency-accounts',
    {
      config: READ,
      schema: {
        tags: ['accounts'],
        summary: "List a client's currency accounts",
        querystring: ClientQuery,
        response: errors(400, 502),
      },
    },
    (request) => listCurrencyAccounts(pool, request.query.client_id),
  );
  app.post<{ Body: TransactionInput }>(
    '/transactions',
    {
      config: FEED,
      schema: {
        tags: ['accounts'],
        summary: 'Book a transaction',
        body: TransactionBody,
        response: errors(400, 404, 409, 502),
      },
    },
    (request, reply) => change(request, reply, context, 201, (tx, act) => bookTransaction(tx, act, request.body)),
  );
  app.post<{ Body: Static<typeof OnboardingBody> }>(
    '/onboarding-events',
    {
      config: FEED,
      schema: {
        tags: ['clients'],
        summary: 'Tell of an onboarding',
        body: OnboardingBody,
        response: errors(400, 404, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 201, (tx, act) =>
        recordOnboarding(tx, act, { brand: context.config.brand, apiUrl: context.addresses.api }, request.body),
      ),
  );

  app.put<{ Body: Static<typeof FxBody> }>(
    '/fx-availability',
    {
      config: FEED,
      schema: { tags: ['quotes'], summary: 'Say when FX is available', body: FxBody, response: errors(400, 502) },
    },
    (request, reply) => {
      const { mode, holidays = [] } = request.body;
      return change(request, reply, context, 200, (tx, act) => setFxAvailability(tx, act, { mode, holidays }));
    },
  );
  app.get(
    '/fx-availability',
    { config: READ, schema: { tags: ['quotes'], summary: 'Read the FX setting', response: errors(502) } },
    () => readFxAvailability(pool),
  );
  app.put<{ Body: RatesInput }>(
    '/exchange-rates',
    {
      config: FEED,
      schema: {
        tags: ['quotes'],
        summary: 'Replace the rates of a base currency',
        body: RatesBody,
        response: errors(400, 502),
      },
    },
    (request, reply) => change(request, reply, context, 200, (tx, act) => setRates(tx, act, request.body)),
  );
  app.get(
    '/exchange-rates',
    { config: READ, schema: { tags: ['quotes'], summary: 'Read all rates', response: errors(502) } },
    async (_request, reply) => sendValue(reply, await readRates(pool)),
  );
}
