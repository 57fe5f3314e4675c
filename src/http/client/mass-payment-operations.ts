import { Type } from 'typebox';
import { CLIENT_MASS_PAYMENT, EXTERNAL_REFERENCE, MASS_STATUSES } from '../../orders/mass/declaration.ts';
import { MAX_ROWS } from '../../orders/rows.ts';
import { REASONS } from '../../values/reasons.ts';
import { ClientId, Currency, formed, Nullable, UuidOfRecord } from '../../values/schemas.ts';
import {
  INSTRUCTION,
  INSTRUCTION_EXAMPLE,
  INVALID_INSTRUCTION,
  MAX_INSTRUCTIONS_BYTES,
} from '../schemas/instruction.ts';
import { operation } from '../schemas/operation.ts';
import { JUDGED, OrderAmount, orderBody } from '../schemas/order-body.ts';
import {
  ClientQuery,
  errors,
  jsonAnswer,
  listAnswer,
  orderErrors,
  Paging,
  TOTAL_COUNT,
  uuidPath,
} from '../schemas/schemas.ts';
import { allowNoBody } from '../server/body.ts';
import { Challenge } from './challenges.ts';
import { DESCRIBED_CSV } from './csv-body.ts';
import { STEP_UP } from './payment-actions.ts';

/** The operations on files of payments (docs/files.md). */

const ACCOUNT = { minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
export const FIELDS = {
  external_reference_id: Type.String({
    pattern: EXTERNAL_REFERENCE.source,
    description: "The client's own identifier, 1 to 64 characters from the blank to ~; no two files ever have the same",
  }),
  auto_commit: Type.Boolean({ description: 'Goes on by itself where no row is bad' }),
  sell_currency: Type.Optional(Currency('What is sold for the currencies that are paid; or trade_id')),
  trade_id: Type.Optional(Type.String({ minLength: 1, description: 'The trade that all are paid from' })),
  funding_account_id: Type.Optional(
    Type.Integer({ ...ACCOUNT, description: 'Number of a currency account in the sell currency' }),
  ),
  reason: Type.Optional(
    Type.Enum([...REASONS], { description: 'Why; required with funding_account_id; default: other' }),
  ),
};
const MassOrder = orderBody(
  {
    ...FIELDS,
    maximum_sell_amount: Type.Optional(OrderAmount('What the exchanges may cost, for auto_commit')),
    payment_instructions: Type.Array(Type.Unknown(formed(INSTRUCTION)), { minItems: 1, maxItems: MAX_ROWS }),
  },
  {
    title: 'MassPaymentOrder',
    examples: [
      {
        ...{ external_reference_id: 'SUPPLIERS-2026-27', auto_commit: false, sell_currency: 'GBP' },
        payment_instructions: [INSTRUCTION_EXAMPLE],
      },
    ],
  },
);
const { auto_commit: autoCommit, external_reference_id: reference, ...others } = FIELDS;
const OrderQuery = Type.Object({
  client_id: ClientId,
  external_reference_id: Type.Optional(reference),
  auto_commit: Type.Optional(autoCommit),
  ...others,
  maximum_sell_amount: Type.Optional(Type.String({ maxLength: 32, description: 'With a CSV: as in the JSON' })),
});
const Taken = Type.Object(
  {
    mass_payment_id: Type.String({ format: 'uuid' }),
    external_reference_id: Type.String(),
    mass_payment_status: Type.Enum([...MASS_STATUSES]),
  },
  {
    title: 'TakenMassPayment',
    examples: [
      {
        mass_payment_id: 'c56a4180-65aa-42ec-a945-5fd21dec0538',
        ...{ external_reference_id: 'SUPPLIERS-2026-27', mass_payment_status: 'Queued for processing' },
      },
    ],
  },
);
const text = (description: string) => Nullable(Type.String({ description }));
const Received = Type.Object(
  {
    request_index: Type.Integer({ description: 'Its place in what was sent, from 0' }),
    status: Nullable(Type.Enum(['valid', 'invalid', 'created'], { description: 'Null before it is judged' })),
    payment_id: text('The payment that was made'),
    beneficiary_id: text('Who is paid, where the payee exists'),
  },
  {
    ...{ additionalProperties: true, title: 'ReceivedInstruction' },
    description: 'An instruction as it was sent, beside what became of it',
    examples: [{ ...INSTRUCTION_EXAMPLE, request_index: 0, status: 'valid', payment_id: null, beneficiary_id: null }],
  },
);

const NEEDS = ['can_create_payments', 'can_manage_multipayments'] as const;
const NEEDED = 'Needs can_create_payments and can_manage_multipayments.';
const Path = uuidPath('mass_payment_id', 'Unique identifier of the mass payment');
const PagedQuery = Type.Object({ client_id: ClientId, ...Paging });

export const CREATE = operation('POST /mass-payments', {
  ...JUDGED,
  bodyLimit: MAX_INSTRUCTIONS_BYTES,
  config: { permission: NEEDS, secondFactor: true, describedBody: DESCRIBED_CSV },
  schema: {
    operationId: 'createMassPayment',
    tags: ['mass payments'],
    summary: 'Send a file of payments',
    description:
      'As JSON, or as CSV (`text/csv`) with the other fields as query parameters. Each row is judged alone, and then the file waits for its ' +
      `confirmation, or goes on by itself. With \`approval_step_up\` it always waits for its maker's code. ${NEEDED}`,
    querystring: OrderQuery,
    body: MassOrder,
    response: {
      202: jsonAnswer('The file is taken', Taken),
      ...orderErrors(400, 413, 415, 502, 'permission_denied', 'second_factor_missing'),
      ...orderErrors('trade_not_found', 'currency_account_not_found', 'already_exists'),
    },
  },
});

export const LIST = operation('GET /mass-payments', {
  schema: {
    operationId: 'listMassPayments',
    tags: ['mass payments'],
    summary: 'List the files, the newest first',
    querystring: Type.Object({
      client_id: ClientId,
      mass_payment_id: Type.Optional(UuidOfRecord('Only this one')),
      external_reference_id: Type.Optional(Type.String({ description: 'Only the one with this reference' })),
      mass_payment_status: Type.Optional(Type.Enum([...MASS_STATUSES], { description: 'Only those with this status' })),
      ...Paging,
    }),
    response: { 200: listAnswer('A page of files', CLIENT_MASS_PAYMENT), ...errors(400, 403, 404, 502) },
  },
});

export const READ_ONE = operation('GET /mass-payments/{mass_payment_id}', {
  schema: {
    operationId: 'getMassPayment',
    tags: ['mass payments'],
    summary: 'Read how far a file is',
    params: Path,
    querystring: ClientQuery,
    response: { 200: jsonAnswer('The file', CLIENT_MASS_PAYMENT), ...errors(400, 403, 502, 'mass_payment_not_found') },
  },
});

export const RECEIVED = operation('GET /mass-payments/{mass_payment_id}/payments-received', {
  schema: {
    operationId: 'listMassPaymentRows',
    tags: ['mass payments'],
    summary: 'List the rows of a file',
    params: Path,
    querystring: PagedQuery,
    response: {
      200: jsonAnswer('A page of rows, in their order', Type.Array(Received), TOTAL_COUNT),
      ...errors(400, 403, 502, 'mass_payment_not_found'),
    },
  },
});

export const ERRORED = operation('GET /mass-payments/{mass_payment_id}/errors', {
  schema: {
    operationId: 'listMassPaymentErrors',
    tags: ['mass payments'],
    summary: 'List the rows of a file that cannot be done',
    params: Path,
    querystring: PagedQuery,
    response: {
      200: jsonAnswer('A page of rows with what is wrong with them', Type.Array(INVALID_INSTRUCTION), TOTAL_COUNT),
      ...errors(400, 403, 502, 'mass_payment_not_found'),
    },
  },
});

const ConfirmBody = orderBody(
  {
    maximum_sell_amount: Type.Optional(OrderAmount('What the exchanges may cost; default: any price')),
    challenge_id: Type.Optional(Type.String({ maxLength: 128, description: 'Where the client asks for a code' })),
    verification_code: Type.Optional(
      Type.String({ maxLength: 64, description: 'The code from the text message or the authenticator' }),
    ),
  },
  { title: 'MassPaymentConfirmation', examples: [{ maximum_sell_amount: 215 }] },
);
export const CONFIRM = operation('POST /mass-payments/{mass_payment_id}/confirm', {
  config: { permission: NEEDS },
  preValidation: allowNoBody,
  schema: {
    operationId: 'confirmMassPayment',
    tags: ['mass payments'],
    summary: 'Confirm a file',
    description: `Its valid rows are done. With \`approval_step_up\` its maker alone does so, with one code. ${NEEDED}`,
    params: Path,
    querystring: ClientQuery,
    body: ConfirmBody,
    response: {
      202: jsonAnswer('It goes on', Taken),
      ...orderErrors(400, 413, 415, 502, 'permission_denied', ...STEP_UP, 'mass_payment_not_found'),
      ...orderErrors('transition_not_allowed'),
    },
  },
});

export const CANCEL = operation('DELETE /mass-payments/{mass_payment_id}', {
  config: { permission: NEEDS },
  schema: {
    operationId: 'cancelMassPayment',
    tags: ['mass payments'],
    summary: 'Take a file back',
    description: `While it is Processed or Queued for creating. ${NEEDED}`,
    params: Path,
    querystring: ClientQuery,
    response: {
      204: { description: 'Cancelled', type: 'null' },
      ...errors(400, 502, 'permission_denied', 'mass_payment_not_found', 'transition_not_allowed'),
    },
  },
});

export const CHALLENGE = operation('POST /mass-payments/{mass_payment_id}/challenges', {
  config: { permission: NEEDS },
  schema: {
    operationId: 'openMassPaymentChallenge',
    tags: ['mass payments'],
    summary: 'Open a challenge for the confirmation of a file',
    description:
      'For its maker, where the client has `approval_step_up`. A text message has the number of payments and the sum for each currency. ' +
      'The challenge is good once, for 5 minutes and 5 wrong codes, while the valid rows and their payees stay.',
    params: Path,
    querystring: ClientQuery,
    response: {
      201: jsonAnswer('The challenge', Challenge),
      ...errors(400, 502, 'permission_denied', 'second_factor_missing', 'mass_payment_not_found', 'rate_limited'),
      ...errors('transition_not_allowed'),
    },
  },
});
