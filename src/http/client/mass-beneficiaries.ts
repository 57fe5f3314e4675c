import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type BankTable, bankTable } from '../../beneficiaries/bank-table.ts';
import { MAX_EMAIL_ADDRESSES } from '../../beneficiaries/declaration.ts';
import { readNew } from '../../beneficiaries/order.ts';
import type { Context } from '../../context.ts';
import {
  CLIENT_MASS_BENEFICIARY,
  clientView,
  MASS_BENEFICIARY_STATUSES,
} from '../../orders/mass-beneficiaries/declaration.ts';
import { listMassBeneficiaryErrors } from '../../orders/mass-beneficiaries/errors.ts';
import {
  bodiesOfCsv,
  type PayeeRow,
  takeMassBeneficiary,
  tryMassBeneficiary,
} from '../../orders/mass-beneficiaries/order.ts';
import { findMassBeneficiary, listMassMade } from '../../orders/mass-beneficiaries/reading.ts';
import { MAX_ROWS, MAX_UNKNOWN_FIELDS, type RowFault } from '../../orders/rows.ts';
import { inTurns } from '../../orders/turns.ts';
import { Problem } from '../../values/errors.ts';
import { ClientId, formed } from '../../values/schemas.ts';
import { fieldsOf, namesOf } from '../../values/unknown.ts';
import { MAX_INSTRUCTIONS_BYTES } from '../schemas/instruction.ts';
import { operation, serve } from '../schemas/operation.ts';
import { elementFaults, JUDGED } from '../schemas/order-body.ts';
import { sendList, sendValue } from '../schemas/reply.ts';
import {
  ClientQuery,
  errors,
  jsonAnswer,
  listAnswer,
  listRequest,
  orderErrors,
  Paging,
  TOTAL_COUNT,
  uuidPath,
  ValidateOnly,
} from '../schemas/schemas.ts';
import { BeneficiaryOrder, ORDER_EXAMPLE } from './beneficiary-bodies.ts';
import { answerChange } from './change.ts';
import { csvOf, DESCRIBED_CSV, holdCsv, readCsvBodies } from './csv-body.ts';

const ID = '5b0c1f0e-6a3e-4a5e-9a53-0a3f3a7c1d11';
const Path = uuidPath('mass_beneficiary_id', 'Unique identifier of the instruction');
const PagedQuery = Type.Object({ client_id: ClientId, ...Paging });

const ErrorRecord = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    details: Type.String(),
    request_index: Type.Integer({ description: 'Place of the beneficiary in the instruction' }),
  },
  {
    title: 'MassBeneficiaryError',
    examples: [
      {
        code: 'invalid_iban',
        message: 'The IBAN is not valid',
        details: 'iban: must be an IBAN with the length of its country and correct check digits',
        request_index: 17,
      },
    ],
  },
);
const Taken = Type.Object(
  { mass_beneficiary_id: Type.String({ format: 'uuid' }), status: Type.Enum([...MASS_BENEFICIARY_STATUSES]) },
  { title: 'TakenMassBeneficiary', examples: [{ mass_beneficiary_id: ID, status: 'queued' }] },
);
const Tried = Type.Object(
  {
    rows_received: Type.Integer({ description: 'Beneficiaries that were sent' }),
    rows_errored: Type.Integer({ description: 'Those that could not be made, each once' }),
    errors: Type.Array(ErrorRecord, { description: 'What is wrong with them, in their order' }),
  },
  { title: 'TriedMassBeneficiary', examples: [{ rows_received: 3, rows_errored: 0, errors: [] }] },
);
const Made = Type.Object(
  {
    request_index: Type.Integer({ description: 'Place of the beneficiary in the instruction' }),
    beneficiary_id: Type.String({ description: 'The beneficiary that was made' }),
  },
  { title: 'MassBeneficiaryMade', examples: [{ request_index: 0, beneficiary_id: 'BEN000001' }] },
);

const CREATE = operation('POST /mass-beneficiaries', {
  ...JUDGED,
  bodyLimit: MAX_INSTRUCTIONS_BYTES,
  config: { permission: 'can_manage_beneficiaries' as const, describedBody: DESCRIBED_CSV },
  schema: {
    operationId: 'createMassBeneficiary',
    tags: ['mass beneficiaries'],
    summary: 'Create many beneficiaries',
    description:
      'Each as in POST /beneficiaries, as JSON, or as CSV (`text/csv`) with a header of the names of its fields. Each is judged alone, and ' +
      'made where nothing is wrong with it. With `validate_only` all are judged at once. Needs can_manage_beneficiaries.',
    querystring: Type.Object({ client_id: ClientId, ...ValidateOnly }),
    body: Type.Array(Type.Unknown(formed(BeneficiaryOrder)), {
      ...{ minItems: 1, maxItems: MAX_ROWS, title: 'BeneficiaryOrders', examples: [[ORDER_EXAMPLE]] },
    }),
    response: {
      202: jsonAnswer('The instruction is taken', Taken),
      200: jsonAnswer('With validate_only: what would become of the rows', Tried),
      ...orderErrors(400, 413, 415, 502, 'permission_denied'),
    },
  },
});

const READ_ONE = operation('GET /mass-beneficiaries/{mass_beneficiary_id}', {
  schema: {
    operationId: 'getMassBeneficiary',
    tags: ['mass beneficiaries'],
    summary: 'Read how far an instruction is',
    params: Path,
    querystring: ClientQuery,
    response: {
      200: jsonAnswer('The instruction', CLIENT_MASS_BENEFICIARY),
      ...errors(400, 403, 502, 'mass_beneficiary_not_found'),
    },
  },
});

const LIST_ERRORS = operation('GET /mass-beneficiaries/{mass_beneficiary_id}/errors', {
  schema: {
    operationId: 'listMassBeneficiaryErrors',
    tags: ['mass beneficiaries'],
    summary: 'List the errors of a mass-beneficiaries instruction',
    description:
      'The beneficiaries that could not be created, in the order of the rows, or in the order in which the institution reported them. ' +
      'While the status of the instruction is not `created`, the list can be empty or incomplete.',
    params: Path,
    querystring: PagedQuery,
    response: {
      200: jsonAnswer('A page of errors', Type.Array(ErrorRecord), TOTAL_COUNT),
      ...errors(400, 403, 404, 502, 'mass_beneficiary_not_found'),
    },
  },
});

const LIST_MADE = operation('GET /mass-beneficiaries/{mass_beneficiary_id}/beneficiaries', {
  schema: {
    operationId: 'listMassBeneficiaries',
    tags: ['mass beneficiaries'],
    summary: 'List the beneficiaries that an instruction has made',
    params: Path,
    querystring: PagedQuery,
    response: {
      200: listAnswer('A page of beneficiaries, in the order of the rows', Made),
      ...errors(400, 403, 502, 'mass_beneficiary_not_found'),
    },
  },
});

const FIELDS: readonly string[] = namesOf(BeneficiaryOrder.properties);

/** The rows of a body. @throws Problem invalid_body if it is not a list, or has too many rows */
async function rowsOf(request: FastifyRequest, table: BankTable): Promise<PayeeRow[]> {
  return inTurns(await bodiesOf(request), (some) =>
    some.map(({ index, body, faults }) => {
      const row = readRow(request, body, table);
      return { ...row, index, faults: [...faults, ...row.faults] };
    }),
  );
}

/** The rows that were sent, with the faults of each row as a whole. @throws Problem invalid_body */
async function bodiesOf(request: FastifyRequest): Promise<{ index: number; body: unknown; faults: RowFault[] }[]> {
  const csv = csvOf(request);
  if (csv !== undefined) return bodiesOfCsv(csv, FIELDS);
  const { body } = request;
  if (!Array.isArray(body)) throw new Problem('invalid_body', 'body: must be a list of beneficiaries');
  if (body.length === 0 || body.length > MAX_ROWS)
    throw new Problem('invalid_body', `body: must have 1 to ${MAX_ROWS} beneficiaries`);
  return body.map((row: unknown, index) => ({ index, body: row, faults: [] }));
}

const NO_OBJECT: RowFault = { field: '', code: 'invalid_format', message: 'must be an object' };

/** Reads a row like the body of a single beneficiary. */
function readRow(request: FastifyRequest, sent: unknown, table: BankTable): Omit<PayeeRow, 'index'> {
  const isObject = typeof sent === 'object' && sent !== null && !Array.isArray(sent);
  let read = readNew(table, {});
  if (!isObject) return { sent, fields: read.fields, faults: [NO_OBJECT] };
  const body = bounded(sent);
  const faults = elementFaults(request, BeneficiaryOrder, body, () => {
    read = readNew(table, fieldsOf(body));
    return read.faults;
  });
  return { sent, fields: read.fields, faults: faults.map(({ field, code, message }) => ({ field, code, message })) };
}

/** A row with a bounded number of unknown fields, which could only add faults of the same kind. So each row costs about the same. */
function bounded(sent: object): object {
  let unknown = 0;
  const kept = Object.entries(sent).filter(([name]) => FIELDS.includes(name) || ++unknown <= MAX_UNKNOWN_FIELDS);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, Array.isArray(value) ? value.slice(0, MAX_EMAIL_ADDRESSES + 1) : value]),
  );
}

/** Many beneficiaries at once (service interface; instructions, second page, 8; docs/files.md). */
export function massBeneficiaryRoutes(app: FastifyInstance, context: Context): void {
  const { pool, config } = context;
  const table = bankTable(config.bankDetails);
  readCsvBodies(app);

  serve(app, { ...CREATE, preValidation: holdCsv([{}]) }, async (request, reply) => {
    const { validationError } = request;
    if (validationError && validationError.validationContext !== 'body') throw validationError;
    const { clientId, contactId } = request.caller;
    const rows = await rowsOf(request, table);
    return answerChange(context, request, reply, async (tx, act) => {
      if (request.validateOnly)
        return { status: 200, body: JSON.stringify(await tryMassBeneficiary(tx, clientId, rows)) };
      const { mass_beneficiary_id, status } = await takeMassBeneficiary(tx, act, { clientId, contactId, rows });
      return { status: 202, body: JSON.stringify({ mass_beneficiary_id, status }) };
    });
  });
  serve(app, READ_ONE, async ({ params, caller }, reply) =>
    sendValue(reply, clientView(await findMassBeneficiary(pool, params.mass_beneficiary_id, caller.clientId))),
  );
  for (const [declared, list] of [
    [LIST_ERRORS, listMassBeneficiaryErrors],
    [LIST_MADE, listMassMade],
  ] as const)
    serve(app, declared as typeof LIST_MADE, async ({ params, caller, query }, reply) => {
      const named = { clientId: caller.clientId, id: params.mass_beneficiary_id };
      return sendList(reply, (await list(pool, named, listRequest(query))) as Awaited<ReturnType<typeof listMassMade>>);
    });
}
