import { accessToken } from './access-token.ts';
import { createWorld } from './client.ts';
import { type Answer, call, type TestService } from './service.ts';

/** A GraphQL answer and its HTTP side. */
export interface GraphqlAnswer extends Answer {
  // biome-ignore lint/suspicious/noExplicitAny: each test decides what it reads of an answer
  data: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  errors: any[] | undefined;
}

/** A client with a contact that has all permissions and one that may not manage webhooks, and their calls of the endpoint. */
export async function createSubscriber(test: TestService, name?: string, fields?: object) {
  const world = await createWorld(test, name, fields);
  const token = await accessToken(test, world.contactId);
  const reader = await world.hire('Reader', {}, ['can_manage_payments']);
  const readerToken = await accessToken(test, reader.contactId);
  /** The schema of the client's cell, quoted for a statement. */
  const schemaOf = async (): Promise<string> => {
    const { rows } = await test.query(
      'select quote_ident(e.schema) as schema from clients c join cells e on e.number = c.cell where c.client_id = $1',
      [world.clientId],
    );
    return rows[0].schema;
  };
  const ask = (as: string) => async (query: string, variables?: object) => {
    const answer = await call(`${test.api}/webhooks/graphql?client_id=${world.clientId}`, 'POST', {
      token: as,
      body: { query, variables },
    });
    return { ...answer, data: answer.body?.data, errors: answer.body?.errors } as GraphqlAnswer;
  };
  const graphql = ask(token);
  return {
    ...world,
    token,
    readerToken,
    graphql,
    asReader: ask(readerToken),
    schemaOf,
    /** Creates a subscription and returns its id. */
    async subscribe(fields: object = {}): Promise<string> {
      const answer = await graphql(
        'mutation ($subscription: SubscriptionInput!) { createSubscription(input: {subscription: $subscription}) { subscription { id } } }',
        { subscription: { url: 'https://receiver.example/hook', types: ['TRADE_STATUS_CHANGE'], ...fields } },
      );
      if (answer.errors) throw new Error(JSON.stringify(answer.errors));
      return answer.data.createSubscription.subscription.id;
    },
    /** Writes notifications of a subscription with their attempts, like the delivery engine. */
    async history(subscriptionId: string, notifications: number, attempts = 1): Promise<void> {
      const schema = await schemaOf();
      await test.query(
        `with event as (
           insert into ${schema}.webhook_events (client_id, type, body, created_at)
           select $1, 'TRADE_STATUS_CHANGE', '{"n":' || n || '}', now() - n * interval '1 second' from generate_series(1, $3::int) n returning id, created_at),
         made as (
           insert into ${schema}.notifications (id, client_id, subscription_id, event_id, type, status, attempts_count, created_at)
           select notification_id(id, $2, created_at), $1, $2, id, 'TRADE_STATUS_CHANGE', 'delivered', $4, created_at from event returning id, created_at)
         insert into ${schema}.attempts (notification_id, attempt_number, delivery_id, client_id, subscription_id, started_at, duration_ms, status_code, headers, body, created_at)
         select id, n, gen_random_uuid(), $1, $2, created_at, 12, 200, '{"x-answer": "yes"}', 'ok ' || n, created_at from made, generate_series(1, $4::int) n`,
        [world.clientId, subscriptionId, notifications, attempts],
      );
    },
  };
}
