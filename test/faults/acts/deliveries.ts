import type { Caller } from '../caller.ts';

const DAY_MS = 86_400_000;
/** A statement covers some days before and after, as the service's clock is ahead of ours. */
const STATEMENT_DAYS = 40;
const FORMATS = ['csv', 'csv', 'camt.053', 'pdf'];
const REPLAYED_MS = 60_000;
/** The first delivery of a run may have to wait for a machine that has much to do. */
const FIRST_DELIVERY_SECONDS = 60;

const day = (offset: number) => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);

export async function askStatement(at: Caller): Promise<void> {
  const body = {
    ...{ date_from: day(-STATEMENT_DAYS), date_to: day(STATEMENT_DAYS), currencies: 'EUR' },
    format: at.random.pick(FORMATS),
  };
  const { status, answer } = await at.client('statement', at.party.token, { path: '/statements/accounts', body });
  const id = /requests\/([0-9a-f-]{36})/.exec(answer?.headers.get('location') ?? '')?.[1];
  if (status === 202 && id) at.known.statements.push(id);
}

export async function sendStatement(at: Caller): Promise<void> {
  const { statements } = at.known;
  if (statements.length === 0) return;
  await at.operator('statement sent again', { path: `/statements/${at.random.pick(statements)}/send` });
}

export async function ping(at: Caller): Promise<void> {
  const { party, known } = at;
  known.pings.asked += 1;
  const path = `/webhooks/ping/${party.subscriptionId}`;
  const { status } = await at.client('ping', party.token, { path, silent: true });
  if (status === 204) known.pings.answered += 1;
}

/** An attempt that is under way when a redelivery is asked for would count as it. */
async function isDelivered(at: Caller, id: string): Promise<boolean> {
  const query = "select from notifications where id = $1 and status = 'delivered'";
  const { rowCount } = await at.known.system.query(query, [id]).catch(() => ({ rowCount: 0 }));
  return rowCount === 1;
}

/** What has arrived is sent once more. */
export async function redeliver(at: Caller): Promise<void> {
  const { received } = at.known.receiver;
  await at.known.receiver.wait(1, FIRST_DELIVERY_SECONDS);
  const id = received.at(-at.random.whole(1, received.length))?.headers['x-service-notification-id'];
  if (id === undefined || !(await isDelivered(at, id))) return;
  const entry = await at.operator('redelivery', { path: `/notifications/${id}/redeliver` });
  if (entry.status === 202) at.known.redeliveries.push({ id, askedAt: entry.askedAt });
}

export async function replay(at: Caller): Promise<void> {
  const since = new Date(Date.now() - REPLAYED_MS).toISOString();
  const body = { since, only_failed: at.random.next() < 0.5 };
  await at.operator('replay', { path: `/subscriptions/${at.party.subscriptionId}/replay`, body });
}

/** A second subscription that gets nothing: it is made, changed and deleted. */
export async function subscribe(at: Caller): Promise<void> {
  const { answer } = await at.graphql(
    'subscription',
    'mutation ($subscription: SubscriptionInput!) { createSubscription(input: {subscription: $subscription}) { subscription { id } } }',
    { subscription: { url: at.known.receiver.url('/aside'), types: ['TRADE_STATUS_CHANGE'], active: false } },
  );
  const id = answer?.body.data?.createSubscription?.subscription.id;
  if (!id) return;
  await at.graphql(
    'subscription changed',
    'mutation ($id: UUID!, $patch: SubscriptionPatch!) { updateSubscription(input: {id: $id, patch: $patch}) { subscription { id } } }',
    { id, patch: { secret: at.ledger.mark() } },
  );
  if (at.random.next() < 0.5)
    await at.graphql(
      'subscription deleted',
      'mutation ($id: UUID!) { deleteSubscription(input: {id: $id}) { subscription { id } } }',
      { id },
    );
}
