import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { bankTable } from '../../beneficiaries/bank-table.ts';
import type { Context } from '../../context.ts';
import { type Instruction, readRows } from '../../orders/instructions/row.ts';
import type { Source } from '../../orders/instructions/scene.ts';
import { MAX_INSTRUCTIONS, orderMultipayment } from '../../orders/multipayment-order.ts';
import { rejectMultipayment } from '../../orders/multipayment-rejection.ts';
import { PAYMENT_STATUSES } from '../../payments/moves.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { type BodyFault, Problem, refusedBody } from '../../values/errors.ts';
import { REASONS } from '../../values/reasons.ts';
import { ClientId, Currency, closed, formed, Nullable } from '../../values/schemas.ts';
import {
  INSTRUCTION,
  INSTRUCTION_EXAMPLE,
  INVALID_INSTRUCTION,
  MAX_INSTRUCTIONS_BYTES,
} from '../schemas/instruction.ts';
import { operation, type RequestOf, serve } from '../schemas/operation.ts';
import { JUDGED } from '../schemas/order-body.ts';
import { ClientQuery, errors, jsonAnswer, orderErrors, Reason, ValidateOnly } from '../schemas/schemas.ts';
import { allowNoBody } from '../server/body.ts';
import { answerChange, contactChange } from './change.ts';

const Path = Type.Object({
  multipayment_id: Type.String({
    description: 'The number, the formatted identifier or the unique identifier',
    examples: ['MP000007', '7', '0f8fad5b-d9cb-469f-a165-70867728950e'],
  }),
});

const Body = Type.Object(
  { reason: Reason },
  { ...closed, title: 'MultipaymentRejection', examples: [{ reason: 'The rates have moved' }] },
);

const REJECT = {
  config: { permission: 'can_manage_multipayments' as const },
  preValidation: allowNoBody,
  schema: {
    operationId: 'rejectMultipayment',
    tags: ['multi payments'],
    summary: 'Reject a multi payment',
    description:
      'Rejects its trades and cancels its payments, all or nothing. 409 `already_rejected` the second time, ' +
      '`transition_not_allowed` once one of its payments has been sent. Needs can_manage_multipayments.',
    params: Path,
    querystring: ClientQuery,
    body: Body,
    response: {
      204: { description: 'Rejected', type: 'null' },
      ...errors(400, 403, 502, 'multipayment_not_found', 'already_rejected', 'transition_not_allowed'),
    },
  },
};

const OrderQuery = Type.Object({
  client_id: ClientId,
  trade_id: Type.Optional(Type.String({ minLength: 1, description: 'The trade that all are paid from' })),
  sell_currency: Type.Optional(Currency('What is sold for the currencies that are paid; or trade_id')),
  accept_immediately: Type.Optional(Type.Enum(['true'], { description: 'As without it' })),
  accept_partial: Type.Optional(
    Type.Boolean({ description: 'Do what can be done, and answer the others; default: true' }),
  ),
  funding_account_id: Type.Optional(
    Type.Integer({
      ...{ minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
      description: 'Number of a currency account in the sell currency, which holds what is sold or paid',
    }),
  ),
  reason: Type.Optional(
    Type.Enum([...REASONS], { description: 'Why; required with funding_account_id; default: other' }),
  ),
  ...ValidateOnly,
});
const OrderedTrade = Type.Object(
  {
    trade_id: Nullable(Type.String({ description: 'Null where it was only tried' })),
    buy_amount: Type.Number(),
    buy_currency: Type.String(),
    sell_amount: Type.Number(),
    sell_currency: Type.String(),
    client_rate: Type.Number({ description: 'Bought units for one sold' }),
    client_rate_symbol: Type.String({ description: 'The sold currency, then the bought one' }),
    value_date: Type.String({ format: 'date' }),
  },
  { title: 'MultipaymentTrade' },
);
const Ordered = Type.Object(
  {
    multipayment_id: Nullable(Type.Integer({ description: 'Null where it was only tried' })),
    multipayment: Nullable(Type.String({ description: 'The formatted identifier' })),
    multipayment_unique_id: Nullable(Type.String({ format: 'uuid' })),
    trade_details: Type.Array(OrderedTrade, { description: 'The trades that were booked' }),
    payments: Type.Array(
      Type.Object(
        {
          payment_id: Nullable(Type.String()),
          request_index: Type.Integer({ description: 'The place of its instruction, from 0' }),
          status: Type.Enum([...PAYMENT_STATUSES]),
        },
        { title: 'MultipaymentPayment' },
      ),
    ),
    invalid_payments: Type.Array(INVALID_INSTRUCTION),
  },
  {
    title: 'OrderedMultipayment',
    examples: [
      {
        ...{ multipayment_id: 7, multipayment: 'MP000007' },
        multipayment_unique_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
        trade_details: [
          {
            ...{ trade_id: 'TRD000001', buy_amount: 250.5, buy_currency: 'EUR', sell_amount: 212.46 },
            ...{ sell_currency: 'GBP', client_rate: 1.179075, client_rate_symbol: 'GBPEUR', value_date: '2026-07-03' },
          },
        ],
        payments: [{ payment_id: 'PAY000001', request_index: 0, status: 'Payment pending of authorization' }],
        invalid_payments: [],
      },
    ],
  },
);
const REFUSALS = [
  ...(['transition_not_allowed', 'trade_not_open', 'currency_mismatch', 'fx_not_enabled', 'fx_closed'] as const),
  ...(['currency_not_allowed', 'exchange_rate_missing', 'exchange_rate_stale', 'amount_out_of_range'] as const),
  ...(['insufficient_funds', 'payments_invalid', 'limit_exceeded'] as const),
];

const ORDER = operation('POST /multipayments', {
  ...JUDGED,
  bodyLimit: MAX_INSTRUCTIONS_BYTES,
  config: { permission: ['can_create_payments', 'can_manage_multipayments'] as const, secondFactor: true },
  schema: {
    operationId: 'createMultipayment',
    tags: ['multi payments'],
    summary: 'Create many payments, with the exchanges that they need',
    description:
      'Instructions of one currency and day are paid from one spot trade, at the price of now. Those in the sell currency itself are paid ' +
      'from the account. An instruction that cannot be done is answered as it was sent, with what is wrong with it. Needs ' +
      'can_create_payments and can_manage_multipayments; can_manage_beneficiaries where a payee is new, can_trade where a currency is bought.',
    querystring: OrderQuery,
    body: Type.Array(Type.Unknown(formed(INSTRUCTION)), {
      ...{ minItems: 1, maxItems: MAX_INSTRUCTIONS, title: 'Instructions', examples: [[INSTRUCTION_EXAMPLE]] },
    }),
    response: {
      200: jsonAnswer('What would be made (`validate_only`)', Ordered),
      201: jsonAnswer('All instructions are done', Ordered),
      202: jsonAnswer('Some are done; `invalid_payments` has the others', Ordered),
      ...orderErrors(400, 413, 415, 502, 'permission_denied', 'second_factor_missing'),
      ...orderErrors('trade_not_found', 'currency_account_not_found'),
      ...orderErrors(...REFUSALS),
    },
  },
});

type OrderRequest = RequestOf<typeof ORDER>;

/** What pays for the payments. @throws Problem missing_parameter, invalid_parameter */
function sourceOf({ query }: OrderRequest): Source {
  const { trade_id: tradeId, sell_currency: sellCurrency, funding_account_id: accountId, reason } = query;
  const refuse = (field: string, message: string) => new Problem('invalid_parameter', `query.${field}: ${message}`);
  if (tradeId === undefined && sellCurrency === undefined)
    throw new Problem('missing_parameter', 'query.sell_currency: is required, or trade_id');
  if (tradeId !== undefined && sellCurrency !== undefined)
    throw refuse('sell_currency', 'must not be given beside trade_id');
  if (tradeId !== undefined && accountId !== undefined)
    throw refuse('funding_account_id', 'must not be given beside trade_id');
  if (accountId !== undefined && reason === undefined)
    throw new Problem('missing_parameter', 'query.reason: is required with funding_account_id');
  return { tradeId, sellCurrency, accountId, reason: reason ?? 'other' };
}

/** The instructions of a body. @throws Problem invalid_body if it is not a list, has too many, or one of them is malformed */
async function instructionsOf({ body }: OrderRequest, table: ReturnType<typeof bankTable>): Promise<Instruction[]> {
  if (!Array.isArray(body)) throw new Problem('invalid_body', 'body: must be a list of instructions');
  if (body.length === 0 || body.length > MAX_INSTRUCTIONS)
    throw new Problem('invalid_body', `body: must have 1 to ${MAX_INSTRUCTIONS} instructions`);
  const rows = await readRows(body, body, { table });
  const faults = rows
    .filter(({ malformed }) => malformed)
    .flatMap(({ faults: all, index }) =>
      all.map(({ code, field, message }) => ({
        ...{ code, message, index, field: field === '' ? `[${index}]` : `[${index}].${field}` },
      })),
    );
  if (faults.length > 0) throw refusedBody(faults as BodyFault[]);
  return rows;
}

/** @throws Problem missing_parameter if there is no account for an instruction in the sell currency */
function requireAccount(rows: readonly Instruction[], { sellCurrency, accountId }: Source): void {
  if (sellCurrency === undefined || accountId !== undefined) return;
  if (rows.some(({ currency }) => currency === sellCurrency))
    throw new Problem(
      'missing_parameter',
      `query.funding_account_id: is required where ${sellCurrency} is paid, which is the sell currency`,
    );
}

/** Many payments in one order, and their rejection (service interface; instructions, second page, 8). */
export function multipaymentRoutes(app: FastifyInstance, context: Context): void {
  const { config } = context;
  const table = bankTable(config.bankDetails);
  const sepa = new Set(table.sepa);
  serve(app, ORDER, async (request, reply) => {
    const { clientId, contactId } = request.caller;
    if (request.validationError && request.validationError.validationContext !== 'body') throw request.validationError;
    const source = sourceOf(request);
    const rows = await instructionsOf(request, table);
    requireAccount(rows, source);
    return answerChange(context, request, reply, async (tx, act) => {
      const made = await orderMultipayment(
        tx,
        act,
        { orderer: { clientId, contactId }, source, rows },
        {
          ...{ presentation: presentationOf(context), environment: config.environment, sepa },
          ...{ partial: request.query.accept_partial ?? true, tried: request.validateOnly },
        },
      );
      const status = made.invalid_payments.length > 0 ? 202 : 201;
      return { status: request.validateOnly ? 200 : status, body: JSON.stringify(made) };
    });
  });

  app.delete<{ Params: Static<typeof Path>; Body: Static<typeof Body> }>(
    '/multipayments/:multipayment_id',
    REJECT,
    async (request, reply) => {
      const { clientId, contactId } = request.caller;
      await contactChange(context, request, (tx, act) =>
        rejectMultipayment(tx, act, presentationOf(context), {
          clientId,
          contactId,
          id: request.params.multipayment_id,
          reason: request.body.reason,
        }),
      );
      return reply.code(204).send();
    },
  );
}
