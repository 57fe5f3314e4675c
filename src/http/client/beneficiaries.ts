import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { bankTable } from '../../beneficiaries/bank-table.ts';
import { deleteBeneficiary, reorderBeneficiary } from '../../beneficiaries/client-changes.ts';
import {
  type BeneficiaryFilters,
  findClientBeneficiary,
  searchBeneficiaries,
} from '../../beneficiaries/client-search.ts';
import { CLIENT_BENEFICIARY, type ClientBeneficiary, clientView } from '../../beneficiaries/client-view.ts';
import { orderBeneficiary } from '../../beneficiaries/creation.ts';
import { readNew } from '../../beneficiaries/order.ts';
import type { Context } from '../../context.ts';
import { ClientId } from '../../values/schemas.ts';
import { fieldsOf } from '../../values/unknown.ts';
import { operation, serve } from '../schemas/operation.ts';
import { JUDGED, refuseFaults } from '../schemas/order-body.ts';
import { locationHeader, sendList, sendValue } from '../schemas/reply.ts';
import {
  ClientQuery,
  errors,
  jsonAnswer,
  listAnswer,
  listRequest,
  orderErrors,
  PageQuery,
  ValidateOnly,
} from '../schemas/schemas.ts';
import { BeneficiaryChange, BeneficiaryOrder, BeneficiarySearch, FILTERS } from './beneficiary-bodies.ts';
import { clientAddress } from './caller.ts';
import { answerChange, contactChange } from './change.ts';

const Path = Type.Object({ beneficiary_id: Type.String({ description: 'The beneficiary', examples: ['BEN000001'] }) });
const ListQuery = Type.Object({
  client_id: ClientId,
  ...Type.Partial(Type.Object(FILTERS)).properties,
  ...PageQuery.properties,
});
const PagedQuery = Type.Object({ client_id: ClientId, ...PageQuery.properties });
const TriedQuery = Type.Object({ client_id: ClientId, ...ValidateOnly });
const MANAGE = { permission: 'can_manage_beneficiaries' as const };
const NEEDS = 'Needs can_manage_beneficiaries.';

const LIST = operation('GET /beneficiaries', {
  schema: {
    operationId: 'listBeneficiaries',
    tags: ['beneficiaries'],
    summary: 'List the beneficiaries',
    description: 'Those that are active, in the order of their creation. Names and accounts stand better in a search.',
    querystring: ListQuery,
    response: { 200: listAnswer('A page of beneficiaries', CLIENT_BENEFICIARY), ...errors(400, 403, 404, 502) },
  },
});

const SEARCH = operation('POST /beneficiaries/search', {
  ...JUDGED,
  config: { unkeyed: true },
  schema: {
    operationId: 'searchBeneficiaries',
    tags: ['beneficiaries'],
    summary: 'Search beneficiaries',
    description:
      'As the list, with the filters in the body, so that no name or account appears in an address. It changes nothing.',
    querystring: PagedQuery,
    body: BeneficiarySearch,
    response: { 200: listAnswer('A page of beneficiaries', CLIENT_BENEFICIARY), ...orderErrors(400, 403, 404, 502) },
  },
});

const READ_ONE = operation('GET /beneficiaries/{beneficiary_id}', {
  schema: {
    operationId: 'getBeneficiary',
    tags: ['beneficiaries'],
    summary: 'Read a beneficiary',
    params: Path,
    querystring: ClientQuery,
    response: {
      200: jsonAnswer('The beneficiary', CLIENT_BENEFICIARY),
      ...errors(400, 403, 404, 502, 'beneficiary_not_found'),
    },
  },
});

const CREATE = operation('POST /beneficiaries', {
  ...JUDGED,
  config: MANAGE,
  schema: {
    operationId: 'createBeneficiary',
    tags: ['beneficiaries'],
    summary: 'Create a beneficiary',
    description:
      'GET /metadata/beneficiary says which bank details a country and a currency need. A beneficiary begins unverified; payments to it ' +
      `may be ordered at once. ${NEEDS}`,
    querystring: TriedQuery,
    body: BeneficiaryOrder,
    response: {
      201: jsonAnswer(
        'The beneficiary',
        CLIENT_BENEFICIARY,
        locationHeader(
          'Where the beneficiary can be read',
          'https://api.example.com/beneficiaries/BEN000001?client_id=CLI000001',
        ),
      ),
      200: jsonAnswer('With validate_only: what success would answer', CLIENT_BENEFICIARY),
      ...orderErrors(400, 403, 404, 502, 'currency_not_allowed', 'beneficiary_blocked', 'beneficiary_duplicate'),
    },
  },
});

const CHANGE = operation('PATCH /beneficiaries/{beneficiary_id}', {
  ...JUDGED,
  config: MANAGE,
  schema: {
    operationId: 'updateBeneficiary',
    tags: ['beneficiaries'],
    summary: 'Change a beneficiary',
    description:
      'Changes the fields that the body names; null clears an optional one. A change of name, country, address or bank details makes the ' +
      'beneficiary unverified again. While a payment to it is not final, only the fields of mails and beneficiary_reference change. ' +
      NEEDS,
    params: Path,
    querystring: TriedQuery,
    body: BeneficiaryChange,
    response: {
      204: { description: 'Changed', type: 'null' },
      200: jsonAnswer('With validate_only: the beneficiary as it would be', CLIENT_BENEFICIARY),
      ...orderErrors(400, 403, 502, 'beneficiary_not_found', 'currency_not_allowed', 'beneficiary_blocked'),
      ...orderErrors(409, 'currency_not_allowed', 'beneficiary_blocked', 'beneficiary_in_use', 'beneficiary_duplicate'),
    },
  },
});

const DELETE = operation('DELETE /beneficiaries/{beneficiary_id}', {
  config: MANAGE,
  schema: {
    operationId: 'deleteBeneficiary',
    tags: ['beneficiaries'],
    summary: 'Delete a beneficiary',
    description: `Clients no longer see it; payments that were made keep whom they paid. ${NEEDS}`,
    params: Path,
    querystring: ClientQuery,
    response: {
      204: { description: 'Deleted', type: 'null' },
      ...errors(400, 403, 502, 'beneficiary_not_found', 'beneficiary_blocked', 'beneficiary_in_use'),
    },
  },
});

/** Beneficiaries that clients order (docs/beneficiaries.md). */
export function clientBeneficiaryRoutes(app: FastifyInstance, context: Context): void {
  const { pool, config } = context;
  const table = bankTable(config.bankDetails);
  const search = (clientId: string, filters: BeneficiaryFilters, query: Static<typeof PageQuery>) =>
    searchBeneficiaries(pool, filters, { ...listRequest(query), clientId });

  serve(app, LIST, async ({ query, caller }, reply) => sendList(reply, await search(caller.clientId, query, query)));
  serve(app, SEARCH, async (request, reply) => {
    refuseFaults(request, []);
    return sendList(reply, await search(request.caller.clientId, request.body, request.query));
  });
  serve(app, READ_ONE, async ({ caller, params }, reply) =>
    sendValue(reply, await findClientBeneficiary(pool, caller.clientId, params.beneficiary_id)),
  );
  serve(app, CREATE, (request, reply) => {
    const { fields, faults } = readNew(table, fieldsOf(request.body));
    refuseFaults(request, faults);
    return answerChange(context, request, reply, async (tx, act) => {
      const made = clientView(await orderBeneficiary(tx, act, request.caller.clientId, fields));
      if (request.validateOnly) return { status: 200, body: JSON.stringify(withoutNumbers(made)) };
      const path = `/beneficiaries/${encodeURIComponent(String(made.beneficiary_id))}`;
      const headers = { location: clientAddress(context, request, path) };
      return { status: 201, body: JSON.stringify(made), headers };
    });
  });
  serve(app, CHANGE, (request, reply) =>
    answerChange(context, request, reply, async (tx, act) => {
      const changed = await reorderBeneficiary(tx, act, {
        ...{ table, clientId: request.caller.clientId, id: request.params.beneficiary_id },
        body: fieldsOf(request.body),
        refuse: (faults) => refuseFaults(request, faults),
      });
      if (request.validateOnly) return { status: 200, body: JSON.stringify(clientView(changed)) };
      return { status: 204, body: '' };
    }),
  );
  serve(app, DELETE, async (request, reply) => {
    const named = { clientId: request.caller.clientId, id: request.params.beneficiary_id };
    await contactChange(context, request, (tx, act) => deleteBeneficiary(tx, act, named));
    return reply.code(204).send();
  });
}

/** The answer for a beneficiary that was only tried: it has no numbers because nothing was made. */
function withoutNumbers(tried: ClientBeneficiary): ClientBeneficiary {
  const accounts = tried.bank_accounts.map((account) => ({ ...account, account_id: null }));
  return { ...tried, beneficiary_id: null, created: null, bank_accounts: accounts };
}
