import { randomBytes, randomUUID } from 'node:crypto';
import { type Answer, call, createWorld, type TestService } from './service.ts';

/** A token of a contact, written straight into the database: these tests are not about signing in. */
export async function tokenFor(test: TestService, contactId: string, seconds = 3_600): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await test.query(
    `with application as (
       insert into applications (client_id, name, redirect_uris, refresh_token_days, created_at)
       values ('graphql-tests', 'Tests', '{http://127.0.0.1:9/}', 28, now()) on conflict (client_id) do update set name = excluded.name returning client_id),
     made as (
       insert into grants (application_id, contact_id, trusted, methods, authenticated_at, created_at)
       select client_id, $1, false, '{pwd}', now(), now() from application returning id)
     insert into access_tokens (token_sha256, grant_id, application_id, contact_id, issued_at, expires_at)
     select sha256(convert_to($2, 'UTF8')), id, 'graphql-tests', $1, now(), now() + make_interval(secs => $3) from made`,
    [contactId, token, seconds],
  );
  return token;
}

/** A GraphQL answer and its HTTP side. */
export interface GraphqlAnswer extends Answer {
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is its own affair
  data: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  errors: any[] | undefined;
}

/** A client with a contact of all permissions, one that may not manage webhooks, and their ways to the endpoint. */
export async function createSubscriber(test: TestService, name?: string) {
  const world = await createWorld(test, name);
  const token = await tokenFor(test, world.contactId);
  const reader = await test.operator('POST', '/contacts', {
    name: 'Reader',
    email: `${randomUUID()}@example.com`,
    password: 'correct horse battery staple',
    clients: [{ client_id: world.clientId, permissions: ['can_manage_payments'] }],
  });
  const readerToken = await tokenFor(test, reader.body.contact_id);
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
    /** Creates a subscription and gives its id. */
    async subscribe(fields: object = {}): Promise<string> {
      const answer = await graphql(
        'mutation ($subscription: SubscriptionInput!) { createSubscription(input: {subscription: $subscription}) { subscription { id } } }',
        { subscription: { url: 'https://receiver.example/hook', types: ['TRADE_STATUS_CHANGE'], ...fields } },
      );
      if (answer.errors) throw new Error(JSON.stringify(answer.errors));
      return answer.data.createSubscription.subscription.id;
    },
    /** Writes notifications of a subscription, each with attempts, as the delivery engine does. */
    async history(subscriptionId: string, notifications: number, attempts = 1): Promise<void> {
      await test.query(
        `with event as (
           insert into delivery.events (client_id, type, body, created_at)
           select $1, 'TRADE_STATUS_CHANGE', '{"n":' || n || '}', now() - n * interval '1 second' from generate_series(1, $3::int) n returning id, created_at),
         made as (
           insert into webhooks.notifications (id, client_id, subscription_id, event_id, type, status, attempts_count, created_at)
           select delivery.notification_id(id, $2, created_at), $1, $2, id, 'TRADE_STATUS_CHANGE', 'delivered', $4, created_at from event returning id, created_at)
         insert into webhooks.attempts (notification_id, attempt_number, delivery_id, client_id, subscription_id, started_at, duration_ms, status_code, headers, body, created_at)
         select id, n, gen_random_uuid(), $1, $2, created_at, 12, 200, '{"x-answer": "yes"}', 'ok ' || n, created_at from made, generate_series(1, $4::int) n`,
        [world.clientId, subscriptionId, notifications, attempts],
      );
    },
  };
}
