import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { bankTable } from '../../beneficiaries/bank-table.ts';
import { describeNeeds } from '../../beneficiaries/metadata.ts';
import type { Context } from '../../context.ts';
import { Country, Currency } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendValue } from '../schemas/reply.ts';
import { errors, jsonAnswer } from '../schemas/schemas.ts';

const Names = (description: string) => Type.Array(Type.String(), { description });
const CountryNeeds = Type.Object(
  {
    country: Type.String({ description: 'Country of the bank' }),
    reason_required: Type.Boolean({ description: 'Some currency needs reason_for_trade' }),
    currencies: Type.Array(
      Type.Object({
        currency: Type.String({ description: 'A currency; `default`: those that have no entry' }),
        mandatory_data: Type.Array(
          Names('Fields besides name and the codes; a name may carry its local meaning, `bank_identifier|Sort Code`'),
          { description: 'Lists, of which one is needed' },
        ),
        optional_data: Names('Fields that may be given'),
      }),
    ),
  },
  {
    title: 'BeneficiaryNeeds',
    examples: [
      {
        country: 'GB',
        reason_required: false,
        currencies: [
          {
            currency: 'GBP',
            mandatory_data: [['account_number', 'bank_identifier|Sort Code'], ['iban']],
            optional_data: ['swift_code', 'bank_name'],
          },
        ],
      },
    ],
  },
);

const READ = operation('GET /metadata/beneficiary', {
  config: { clientless: true },
  schema: {
    operationId: 'getBeneficiaryMetadata',
    tags: ['beneficiaries'],
    summary: 'Tell what a beneficiary needs',
    description: 'Which bank details a beneficiary needs, by the country of its bank and the currency of its account.',
    querystring: Type.Object({
      country: Type.Optional(Country('One country; default: all')),
      currency: Type.Optional(Currency('Only the entry that decides for it')),
    }),
    response: { 200: jsonAnswer('By country', Type.Array(CountryNeeds)), ...errors(400, 502) },
  },
});

/** GET /metadata/beneficiary (docs/beneficiaries.md). */
export function metadataRoutes(app: FastifyInstance, { config }: Context): void {
  const table = bankTable(config.bankDetails);
  serve(app, READ, ({ query }, reply) => sendValue(reply, describeNeeds(table, query)));
}
