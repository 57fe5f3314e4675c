import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../context.ts';
import type { Db, Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { returnPayment } from '../operator/return-payment.ts';
import { createBeneficiary, findBeneficiary, listBeneficiaries, updateBeneficiary } from '../payments/beneficiary.ts';
import { createPayment, SCHEMES } from '../payments/creation.ts';
import { movePayment, type Presentation } from '../payments/lifecycle.ts';
import { PAYMENT_ACTIONS, type PaymentAction } from '../payments/moves.ts';
import { paymentBodies } from '../payments/payment.ts';
import {
  createTrade,
  findTrade,
  listTrades,
  setTradeStatus,
  TRADE_STATUSES,
  TRADE_TYPES,
  type TradeGiven,
} from '../payments/trade.ts';
import { change, FEED, READ } from './operator.ts';
import { ClientId, Currency, Day, Decimal, errors, Id, Instant, Nullable, Paging, Text, Uuid } from './schemas.ts';

const closed = { additionalProperties: false };
const flag = Type.Optional(Type.Boolean());

const BeneficiaryFields = {
  beneficiary_name: Text('Name'),
  beneficiary_aml_id: Type.Optional(Nullable(Text('Formatted identifier', 64))),
  account_number: Type.Optional(Nullable(Text('Destination account number', 64))),
  iban: Type.Optional(Nullable(Text('IBAN; its length and check digits are checked', 64))),
  swift_code: Type.Optional(Nullable(Text('BIC; checked', 32))),
  bank_identifier: Type.Optional(Nullable(Text('Bank identifier, as a sort code', 64))),
  currency: Type.Optional(Nullable(Currency())),
  beneficiary_active: flag,
  beneficiary_authorised: flag,
  beneficiary_blocked: flag,
  beneficiary_completed: flag,
  beneficiary_verified: flag,
};
export const BeneficiaryBody = Type.Object(
  { client_id: ClientId, beneficiary_id: Type.Optional(Id('Given by the core, else made')), ...BeneficiaryFields },
  {
    ...closed,
    examples: [
      {
        client_id: 'CLI000001',
        beneficiary_name: 'Müller GmbH',
        iban: 'DE89370400440532013000',
        swift_code: 'COBADEFFXXX',
        currency: 'EUR',
      },
    ],
  },
);
const BeneficiaryPatch = Type.Partial(Type.Object(BeneficiaryFields), closed);

export const TradeFields = {
  client_id: ClientId,
  contact_id: Type.String({ minLength: 1, description: 'Contact who booked it' }),
  buy_currency: Currency('Currency that is bought'),
  sell_currency: Currency('Currency that is sold'),
  buy_amount: Decimal('Amount that is bought'),
  rate: Decimal('Units of the bought currency for one unit of the sold one'),
  trade_id: Type.Optional(Id('Given by the core, else made')),
  parent_trade_id: Type.Optional(Nullable(Type.String({ description: 'Of a drawdown only' }))),
  status: Type.Optional(Type.Enum([...TRADE_STATUSES])),
  trade_type: Type.Optional(Type.Enum([...TRADE_TYPES])),
  rate_symbol: Type.Optional(Text('Pair, sold currency first', 16)),
  sell_amount: Type.Optional(Decimal('Amount that is sold; buy_amount / rate where absent')),
  fee_amount: Type.Optional(Nullable(Decimal('Fee'))),
  fee_currency: Type.Optional(Nullable(Currency())),
  order_date: Type.Optional(Day('Day of the order')),
  maturity_date: Type.Optional(Nullable(Instant('Maturity; a day is midnight UTC'))),
  reference: Type.Optional(Nullable(Text('Reference'))),
  synthetic: flag,
};
export const TradeBody = Type.Object(TradeFields, {
  ...closed,
  examples: [
    {
      client_id: 'CLI000001',
      contact_id: 'CON000001',
      buy_currency: 'EUR',
      sell_currency: 'GBP',
      buy_amount: 1170,
      rate: 1.17,
    },
  ],
});
const TradePatch = Type.Object({ status: Type.Enum([...TRADE_STATUSES]) }, closed);

export const PaymentFields = {
  client_id: ClientId,
  contact_id: Type.String({ minLength: 1, description: 'The creator' }),
  trade_id: Type.String({ minLength: 1, description: 'Trade that funds it' }),
  beneficiary_id: Type.String({ minLength: 1, description: 'Who is paid' }),
  amount: Decimal('Amount'),
  payment_currency: Currency(),
  payment_date: Day('Target payment date'),
  payment_id: Type.Optional(Id('Given by the core, else made')),
  reference: Type.Optional(Nullable(Text('Reference'))),
  fee_amount: Type.Optional(Nullable(Decimal('Fee'))),
  fee_currency: Type.Optional(Nullable(Currency())),
  charges: Type.Optional(Nullable(Text('Charges, as OUR, SHA, BEN', 64))),
  scheme: Type.Optional(Type.Enum([...SCHEMES])),
  invoice_required: flag,
  mass_payment_id: Type.Optional(Nullable(Uuid('Mass payment it belongs to'))),
  mass_payment_external_reference_id: Type.Optional(Nullable(Text('Its reference at the client', 255))),
};
const PaymentBody = Type.Object(PaymentFields, {
  ...closed,
  examples: [
    {
      client_id: 'CLI000001',
      contact_id: 'CON000001',
      trade_id: 'TRD000001',
      beneficiary_id: 'BEN000001',
      amount: 250.5,
      payment_currency: 'EUR',
      payment_date: '2026-07-01',
      reference: 'Invoice 42',
    },
  ],
});
const ActionBody = Type.Object(
  {
    action: Type.Enum(PAYMENT_ACTIONS),
    contact_id: Type.Optional(Type.String({ minLength: 1, description: 'Who acts; required by authorise and reject' })),
    reason: Type.Optional(Text('Kept in the audit trail')),
  },
  { ...closed, examples: [{ action: 'validate' }] },
);
const ListQuery = Type.Object({ ...Paging, client_id: Type.Optional(Type.String({ minLength: 1 })) });
const path = (name: string) => Type.Object({ [name]: Type.String() });

/** What the shown form of a payment depends on. */
export function presentation(context: Context): Presentation {
  return { apiUrl: context.addresses.api, trackingCutoff: context.config.trackingCutoff };
}

/** A payment as JSON text, seen by nobody in particular. */
export async function shownPayment(db: Db, context: Context, clientId: string, id: number, now: Date): Promise<string> {
  const [body] = await paymentBodies(db, { clientId, viewer: null, now, ...presentation(context) }, [id]);
  return body ?? 'null';
}

async function ownerOf(db: Db, paymentId: string): Promise<{ id: number; client_id: string }> {
  const { rows } = await db.query<{ id: number; client_id: string }>(
    'select id, client_id from payments where payment_id = $1',
    [paymentId],
  );
  if (!rows[0]) throw new Problem('payment_not_found', 'path.payment_id: is no payment');
  return rows[0];
}

/** Beneficiaries, trades, payments and what is done with them (docs/operator-interface.md). */
export function operatorPaymentRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;
  type Page = { page: number; page_size: number; client_id?: string };

  app.post<{ Body: Static<typeof BeneficiaryBody> }>(
    '/beneficiaries',
    {
      config: FEED,
      schema: {
        tags: ['beneficiaries'],
        summary: 'Create a beneficiary',
        body: BeneficiaryBody,
        response: errors(400, 404, 409, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 201, async (tx, act) => {
        await clientExists(tx, request.body.client_id);
        return createBeneficiary(tx, act, request.body);
      }),
  );
  app.get<{ Querystring: Page }>(
    '/beneficiaries',
    {
      config: READ,
      schema: {
        tags: ['beneficiaries'],
        summary: 'List beneficiaries',
        querystring: ListQuery,
        response: errors(400, 502),
      },
    },
    async (request, reply) =>
      sendList(
        reply,
        await listBeneficiaries(pool, request.query.page, request.query.page_size, request.query.client_id),
      ),
  );
  app.get<{ Params: { beneficiary_id: string } }>(
    '/beneficiaries/:beneficiary_id',
    {
      config: READ,
      schema: {
        tags: ['beneficiaries'],
        summary: 'Read a beneficiary',
        params: path('beneficiary_id'),
        response: errors(404, 502),
      },
    },
    (request) => findBeneficiary(pool, request.params.beneficiary_id),
  );
  app.patch<{ Params: { beneficiary_id: string }; Body: Static<typeof BeneficiaryPatch> }>(
    '/beneficiaries/:beneficiary_id',
    {
      config: FEED,
      schema: {
        tags: ['beneficiaries'],
        summary: 'Change a beneficiary',
        params: path('beneficiary_id'),
        body: BeneficiaryPatch,
        response: errors(400, 404, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 200, (tx, act) =>
        updateBeneficiary(tx, act, request.params.beneficiary_id, request.body),
      ),
  );

  app.post<{ Body: TradeGiven }>(
    '/trades',
    {
      config: FEED,
      schema: { tags: ['trades'], summary: 'Book a trade', body: TradeBody, response: errors(400, 404, 409, 502) },
    },
    (request, reply) =>
      change(request, reply, context, 201, async (tx, act) => {
        await clientExists(tx, request.body.client_id, request.body.contact_id);
        return createTrade(tx, act, context.addresses.api, request.body);
      }),
  );
  app.get<{ Querystring: Page }>(
    '/trades',
    {
      config: READ,
      schema: { tags: ['trades'], summary: 'List trades', querystring: ListQuery, response: errors(400, 502) },
    },
    async (request, reply) =>
      sendList(
        reply,
        await listTrades(
          pool,
          context.addresses.api,
          request.query.page,
          request.query.page_size,
          request.query.client_id,
        ),
      ),
  );
  app.get<{ Params: { trade_id: string } }>(
    '/trades/:trade_id',
    {
      config: READ,
      schema: { tags: ['trades'], summary: 'Read a trade', params: path('trade_id'), response: errors(404, 502) },
    },
    async (request, reply) => sendValue(reply, await findTrade(pool, context.addresses.api, request.params.trade_id)),
  );
  app.patch<{ Params: { trade_id: string }; Body: Static<typeof TradePatch> }>(
    '/trades/:trade_id',
    {
      config: FEED,
      schema: {
        tags: ['trades'],
        summary: 'Give a trade a status',
        params: path('trade_id'),
        body: TradePatch,
        response: errors(400, 404, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 200, (tx, act) =>
        setTradeStatus(tx, act, context.addresses.api, request.params.trade_id, request.body.status),
      ),
  );

  app.post<{ Body: Static<typeof PaymentBody> }>(
    '/payments',
    {
      config: FEED,
      schema: {
        tags: ['payments'],
        summary: 'Create a payment',
        body: PaymentBody,
        response: errors(400, 404, 409, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 201, async (tx, act) => {
        const id = await createPayment(tx, act, presentation(context), request.body);
        return shownPayment(tx, context, request.body.client_id, id, act.now);
      }),
  );
  app.get<{ Params: { payment_id: string } }>(
    '/payments/:payment_id',
    {
      config: READ,
      schema: { tags: ['payments'], summary: 'Read a payment', params: path('payment_id'), response: errors(404, 502) },
    },
    async (request, reply) => {
      const owner = await ownerOf(pool, request.params.payment_id);
      return sendText(reply, await shownPayment(pool, context, owner.client_id, owner.id, request.now));
    },
  );
  app.post<{ Params: { payment_id: string }; Body: { action: PaymentAction; contact_id?: string; reason?: string } }>(
    '/payments/:payment_id/actions',
    {
      config: FEED,
      schema: {
        tags: ['payments'],
        summary: 'Act on a payment',
        params: path('payment_id'),
        body: ActionBody,
        response: errors(400, 403, 404, 409, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 200, async (tx, act) => {
        const owner = await ownerOf(tx, request.params.payment_id);
        const { action, contact_id: contactId, reason } = request.body;
        if (contactId !== undefined) await clientExists(tx, owner.client_id, contactId);
        const move = { clientId: owner.client_id, paymentId: request.params.payment_id, action, contactId, reason };
        if (action === 'return') await returnPayment(tx, act, presentation(context), move);
        else await movePayment(tx, act, presentation(context), move);
        return shownPayment(tx, context, owner.client_id, owner.id, act.now);
      }),
  );
}

/** @throws Problem client_not_found, contact_not_found */
export async function clientExists(
  tx: Transaction,
  clientId: string,
  contactId?: string,
  field = 'body',
): Promise<void> {
  const { rows } = await tx.query<{ client: boolean; contact: boolean }>(
    `select exists (select from clients where client_id = $1) as client,
       exists (select from contact_clients where client_id = $1 and contact_id = $2) as contact`,
    [clientId, contactId ?? null],
  );
  if (!rows[0]?.client) throw new Problem('client_not_found', `${field}.client_id: is no client`);
  if (contactId !== undefined && !rows[0].contact)
    throw new Problem('contact_not_found', `${field}.contact_id: is no contact of the client`);
}

export function sendList(reply: FastifyReply, list: { rows: unknown[]; total: number }): FastifyReply {
  return sendValue(reply.header('x-total-count', list.total), list.rows);
}

export function sendValue(reply: FastifyReply, value: unknown): FastifyReply {
  return sendText(reply, JSON.stringify(value));
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(text);
}
