import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type BankTable, bankTable } from '../../beneficiaries/bank-table.ts';
import type { Context } from '../../context.ts';
import { type Instruction, readRows } from '../../orders/instructions/row.ts';
import type { Source } from '../../orders/instructions/scene.ts';
import { cancelFile, checkFileCode, confirmFile, maximumFault, openFileChallenge } from '../../orders/mass/changes.ts';
import { clientView, type MassPayment } from '../../orders/mass/declaration.ts';
import { instructionsOfCsv, takeFile } from '../../orders/mass/file.ts';
import { findMassPayment, listErrored, listMassPayments, listReceived } from '../../orders/mass/reading.ts';
import { type BodyFault, Problem, refusedBody } from '../../values/errors.ts';
import { decimal } from '../../values/money.ts';
import { fieldsOf, listOf } from '../../values/unknown.ts';
import { serve } from '../schemas/operation.ts';
import { refuseFaults } from '../schemas/order-body.ts';
import { sendJson, sendList, sendValue } from '../schemas/reply.ts';
import { listRequest } from '../schemas/schemas.ts';
import { answerChallenge } from './challenges.ts';
import { answerChange, contactChange } from './change.ts';
import { csvOf, holdCsv, readCsvBodies } from './csv-body.ts';
import {
  CANCEL,
  CHALLENGE,
  CONFIRM,
  CREATE,
  ERRORED,
  type FIELDS,
  LIST,
  READ_ONE,
  RECEIVED,
} from './mass-payment-operations.ts';

/** Many payments in one file (instructions, second page, 8; docs/files.md). */

/** Replaces a CSV while the JSON schema is checked. */
const CHECKED = { external_reference_id: 'CSV', auto_commit: false, payment_instructions: [{}] };

type OrderFields = Partial<Record<keyof typeof FIELDS | 'maximum_sell_amount', unknown>>;

/** The faults of the fields next to the rows. */
function fieldFaults(given: OrderFields): BodyFault[] {
  const { sell_currency: sold, trade_id: trade, funding_account_id: account, reason } = given;
  const faults: BodyFault[] = [];
  const refuse = (field: string, code: BodyFault['code'], message: string) => faults.push({ field, code, message });
  if (sold == null && trade == null) refuse('sell_currency', 'required', 'is required, or trade_id');
  if (sold != null && trade != null) refuse('trade_id', 'invalid_format', 'must not be given beside sell_currency');
  if (trade != null && account != null)
    refuse('funding_account_id', 'invalid_format', 'must not be given beside trade_id');
  if (account != null && reason == null) refuse('reason', 'required', 'is required with funding_account_id');
  return faults;
}

interface ReadOrder {
  fields: OrderFields;
  rows: Instruction[];
}

/** The file from a CSV. Its fields are query parameters. @throws Problem missing_parameter, invalid_parameter, invalid_body */
async function orderOfCsv(query: OrderFields, csv: string, table: BankTable): Promise<ReadOrder> {
  const problem = (code: 'missing_parameter' | 'invalid_parameter', field: string, message: string) =>
    new Problem(code, `query.${field}: ${message}`);
  for (const field of ['external_reference_id', 'auto_commit'] as const)
    if (query[field] === undefined) throw problem('missing_parameter', field, 'is required');
  const [fault] = fieldFaults(query);
  if (fault)
    throw problem(fault.code === 'required' ? 'missing_parameter' : 'invalid_parameter', fault.field, fault.message);
  const { maximum_sell_amount: most } = query;
  if (most !== undefined && !/^(?=.*[1-9])\d{1,15}(?:\.\d{1,8})?$/.test(String(most)))
    throw problem('invalid_parameter', 'maximum_sell_amount', 'must be a decimal above 0');
  return { fields: query, rows: await instructionsOfCsv(csv, table) };
}

/** The file from a JSON body. @throws Problem invalid_body with all faults */
async function orderOfJson(request: FastifyRequest, table: BankTable): Promise<ReadOrder> {
  refuseFaults(request, fieldFaults(fieldsOf(request.body)));
  const { payment_instructions: rows, ...fields } = fieldsOf(request.body);
  return { fields, rows: await readRows(request.body, listOf(rows), { table }) };
}

function sourceOf({ sell_currency, trade_id, funding_account_id, reason }: OrderFields): Source {
  return {
    ...{ sellCurrency: (sell_currency as string) ?? undefined, tradeId: (trade_id as string) ?? undefined },
    ...{ accountId: (funding_account_id as number) ?? undefined, reason: (reason as Source['reason']) ?? 'other' },
  };
}

/** The fields of a CSV are query parameters. @throws the given error, with the name of the parameter */
function inQuery(error: unknown): never {
  if (!(error instanceof Problem) || !error.fault) throw error;
  throw new Problem(error.code, `query.${error.fault.field}: ${error.fault.message}`);
}

const taken = ({ mass_payment_id, external_reference_id, mass_payment_status }: MassPayment) =>
  JSON.stringify({ mass_payment_id, external_reference_id, mass_payment_status });

/** The files of a client. */
export function massPaymentRoutes(app: FastifyInstance, context: Context): void {
  const { pool, config } = context;
  const table = bankTable(config.bankDetails);
  readCsvBodies(app);

  serve(app, { ...CREATE, preValidation: holdCsv(CHECKED) }, async (request, reply) => {
    const { validationError } = request;
    if (validationError && validationError.validationContext === 'querystring') throw validationError;
    const csv = csvOf(request);
    const reading =
      csv === undefined ? orderOfJson(request, table) : orderOfCsv(request.query as OrderFields, csv, table);
    const { fields, rows } = await reading;
    const { clientId, contactId } = request.caller;
    const { external_reference_id: externalReferenceId, auto_commit: auto, maximum_sell_amount: most } = fields;
    const maximumSellAmount = most == null ? undefined : decimal(most, 'maximum_sell_amount', { positive: true });
    const source = sourceOf(fields);
    return answerChange(context, request, reply, async (tx, act) => {
      const fault = await maximumFault(tx, maximumSellAmount, source.sellCurrency);
      if (fault) throw csv === undefined ? refusedBody([fault]) : inQuery(new Problem('invalid_parameter', fault));
      const taking = takeFile(tx, act, {
        ...{ orderer: { clientId, contactId }, source, rows, texts: csv !== undefined, maximumSellAmount },
        ...{ externalReferenceId: String(externalReferenceId), autoCommit: auto === true },
      });
      return { status: 202, body: taken(await (csv === undefined ? taking : taking.catch(inQuery))) };
    });
  });

  serve(app, LIST, async ({ query, caller }, reply) => {
    const { rows, total } = await listMassPayments(pool, {
      ...listRequest(query),
      ...{ clientId: caller.clientId, massPaymentId: query.mass_payment_id, status: query.mass_payment_status },
      externalReferenceId: query.external_reference_id,
    });
    return sendList(reply, { rows: rows.map(clientView), total });
  });
  serve(app, READ_ONE, async ({ params, caller }, reply) =>
    sendValue(reply, clientView(await findMassPayment(pool, params.mass_payment_id, caller.clientId))),
  );
  for (const [declared, list] of [
    [RECEIVED, listReceived],
    [ERRORED, listErrored],
  ] as const)
    serve(app, declared as typeof RECEIVED, async ({ params, caller, query }, reply) => {
      const { page, pageSize } = listRequest(query);
      const { texts, total } = await list(pool, {
        clientId: caller.clientId,
        id: params.mass_payment_id,
        page,
        pageSize,
      });
      return sendJson(reply.header('x-total-count', total), `[${texts.join(',')}]`);
    });

  serve(app, CONFIRM, async (request, reply) => {
    const named = { ...request.caller, id: request.params.mass_payment_id };
    const { maximum_sell_amount: most, challenge_id: challengeId, verification_code: code } = request.body;
    const maximum = most === undefined ? undefined : decimal(most, 'maximum_sell_amount', { positive: true });
    // A repetition meets the code of the first request, which may just have used it. The key decides then, in the transaction.
    const proof = await checkFileCode(context, named, { challengeId, code }).catch((error: unknown) => {
      if (request.keyed && error instanceof Problem) return error;
      throw error;
    });
    return answerChange(context, request, reply, async (tx, act) => {
      if (proof instanceof Problem) throw proof;
      await confirmFile(tx, act, named, { maximum, proof });
      return { status: 202, body: taken(await findMassPayment(tx, named.id, named.clientId)) };
    });
  });

  serve(app, CANCEL, async (request, reply) => {
    const named = { ...request.caller, id: request.params.mass_payment_id };
    await contactChange(context, request, (tx, act) => cancelFile(tx, act, named));
    return reply.code(204).send();
  });

  serve(app, CHALLENGE, (request, reply) => {
    const named = { ...request.caller, id: request.params.mass_payment_id };
    return answerChallenge(context, request, reply, (tx, how) => openFileChallenge(tx, context, named, how));
  });
}
