/** The service of bench/documents.ts in its own process, with a client that has payments to search and to draw. */
import { createWorld } from '../test/world/client.ts';
import { startTestService } from '../test/world/service.ts';

const PAYMENTS = 20_000;

const service = await startTestService();
const world = await createWorld(service);
await service.query(
  `insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency, reference, status,
     invoice_required, ordered_by_name, beneficiary_name, created, payment_date, authorisation_workflow, sent_date)
   select $1, 'P' || n, $2, $3, $4, gen_random_uuid(), 'SWIFT', n, 'EUR', 'INV-' || n, 'Payment complete', false, 'Bench', 'Payee',
     now() - n * interval '1 minute', '2026-07-01', 'simple', now() from generate_series(1, $5::int) n`,
  [world.clientId, world.contactId, world.tradeId, world.beneficiaryId, PAYMENTS],
);
await service.query('analyze');
// The bench was interrupted, or has ended.
process.once('disconnect', () => process.exit(0));
process.on('message', () => void service.stop().then(() => process.exit(0)));
process.send?.({ api: service.api, token: await world.signIn(), clientId: world.clientId, payments: PAYMENTS });
