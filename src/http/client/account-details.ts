import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { CLIENT_ACCOUNT_DETAILS, clientAccountDetails, DETAILS_TYPES } from '../../accounts/account-details.ts';
import type { Context } from '../../context.ts';
import { ClientId, CurrencyCode } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { errors, jsonAnswer } from '../schemas/schemas.ts';

const AccountDetails = Type.Object(CLIENT_ACCOUNT_DETAILS.properties, {
  title: 'AccountDetails',
  examples: [
    {
      account_details_id: '5c0d4b8e-6d8e-4c8e-9f0a-3b1c2d4e5f60',
      account_id: null,
      account_details_type: 'pooled',
      currency: 'EUR',
      country: 'GB',
      status: 'confirmed',
      financial_institution_name: 'National Bank',
      account_holder_name: 'Ashdown Ltd',
      domestic: null,
      international: {
        account_number: 'GB29NWBK60161331926819',
        account_number_type: 'IBAN',
        bank_identifier: 'NWBKGB2L',
        bank_identifier_type: 'SWBIC',
      },
      reference_for_payment: 'CLI000001',
    },
  ],
});

const LIST = operation('GET /account-details', {
  schema: {
    operationId: 'listAccountDetails',
    tags: ['accounts'],
    summary: 'List where to pay in',
    description: 'By currency; what is for this client alone stands before what is for all clients.',
    querystring: Type.Object({
      client_id: ClientId,
      account_details_type: Type.Optional(
        Type.Enum([...DETAILS_TYPES], { description: 'dedicated: for this client alone; pooled: for all clients' }),
      ),
      currency: Type.Optional(CurrencyCode('Only in this currency')),
    }),
    response: {
      200: jsonAnswer('The account details', Type.Array(AccountDetails)),
      ...errors(400, 403, 404, 502),
    },
  },
});

/** Where the calling client pays in. */
export function accountDetailsRoutes(app: FastifyInstance, { pool }: Context): void {
  serve(app, LIST, ({ caller, query }) =>
    clientAccountDetails(pool, caller.clientId, { type: query.account_details_type, currency: query.currency }),
  );
}
