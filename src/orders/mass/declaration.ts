import { Type } from 'typebox';
import { made, RecordKind, type Shown } from '../../database/record.ts';
import { ClientId, ExactNumber, Moment, Nullable } from '../../values/schemas.ts';

/** A file of many payments, in the form that its client and the institution read (instructions, second page, 8). */

export const MASS_STATUSES = [
  'Queued for processing',
  'Processing',
  'Processed',
  'Queued for creating',
  'Creating',
  'Created',
  'Cancelled',
  'Failed',
] as const;
export type MassStatus = (typeof MASS_STATUSES)[number];

/** The client's own identifier of a file. */
export const EXTERNAL_REFERENCE = /^[ -~]{1,64}$/;

const text = (description: string) => Nullable(Type.String({ description }));
const count = (description: string) => Type.Integer({ description });

export const MASS_PAYMENT = new RecordKind({
  table: 'mass_payments',
  id: 'mass_payment_id',
  fields: {
    mass_payment_id: made(Type.String({ format: 'uuid' }), { example: 'c56a4180-65aa-42ec-a945-5fd21dec0538' }),
    client_id: made(ClientId, { example: 'CLI000001' }),
    external_reference_id: made(Type.String({ description: "The client's own identifier" }), {
      example: 'SUPPLIERS-2026-27',
    }),
    error: made(
      Nullable(
        Type.Object(
          { code: Type.String(), message: Type.String(), details: Type.String() },
          { title: 'MassPaymentError' },
        ),
      ),
      { example: null },
    ),
    mass_payment_status: made(Type.Enum([...MASS_STATUSES]), { elsewhere: 'status', example: 'Processed' }),
    sell_currency: made(text('What is sold; null where a trade pays'), { example: 'GBP' }),
    sell_amount: made(
      Nullable(ExactNumber('What its trades sell; before they are booked an estimate; null where none can be told')),
      {
        example: 212.46,
      },
    ),
    estimated_at: made(Nullable(Moment), { example: '2026-07-01T09:15:00.000Z' }),
    trades_created: made(count('Trades, those of single payments too'), { elsewhere: 'trades', example: 0 }),
    new_beneficiaries: made(count('Payees that would be made, or were'), { example: 1 }),
    payment_initiation_id: made(text('The MsgId of its pain.001'), { example: null }),
    payment_information_id: made(text('The PmtInfId of its pain.001'), { example: null }),
    created_by: made(Type.String({ description: 'The contact in whose name its payments are made' }), {
      example: 'CON000001',
    }),
    created_at: made(Moment, { example: '2026-07-01T09:15:00.000Z' }),
    payments_summary: made(
      Type.Object(
        {
          payments_received: count('Instructions'),
          payments_processed: count('Judged'),
          payments_errored: count('That cannot be done'),
          payments_created: count('Payments that were made'),
        },
        { title: 'MassPaymentSummary' },
      ),
      {
        elsewhere: `json_build_object('payments_received', received, 'payments_processed', processed, 'payments_errored', errored,
          'payments_created', made)`,
        example: { payments_received: 2, payments_processed: 2, payments_errored: 1, payments_created: 0 },
      },
    ),
    sums: made(
      Type.Array(
        Type.Object(
          {
            currency: Type.String(),
            amount: ExactNumber('Sum of the valid instructions'),
            payments: count('How many'),
          },
          { title: 'MassPaymentSum' },
        ),
      ),
      { example: [{ currency: 'EUR', amount: 250.5, payments: 1 }] },
    ),
  },
});
export type MassPayment = Shown<typeof MASS_PAYMENT>;

const { client_id: _client, ...ofClient } = MASS_PAYMENT.shown;
const { client_id: _shown, ...example } = MASS_PAYMENT.example as Record<string, unknown>;
/** A mass payment as its client sees it. */
export const CLIENT_MASS_PAYMENT = Type.Object(ofClient, { title: 'MassPayment', examples: [example] });
export const CLIENT_MASS_PAYMENT_EXAMPLE = example;

/** A mass payment in the form that its client sees. */
export const clientView = ({ client_id: _, ...shown }: MassPayment) => shown;
