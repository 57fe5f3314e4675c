import assert from 'node:assert/strict';
import { Exact } from '../../src/values/json.ts';
import { accessToken } from './access-token.ts';
import { createWorld } from './client.ts';
import type { Answer, TestService } from './service.ts';

export interface Person {
  id: string;
  name: string;
  email: string;
  token: string;
}

/** A client whose payments need approvals, the creator of its payments, and further people by name. */
export async function approvalsWorld(service: TestService, names: string[], client: object = {}) {
  const world = await createWorld(service, 'Approvals', { payment_approvals_enabled: true, ...client });
  const { clientId, contactId } = world;
  const owner: Person = {
    id: contactId,
    name: 'Owner of Approvals',
    email: world.email,
    token: await accessToken(service, contactId),
  };
  const people: Record<string, Person> = {};

  const hire = async (name: string, permissions?: string[], fields: object = {}): Promise<Person> => {
    const { contactId: id, email } = await world.hire(name, fields, permissions);
    people[name] = { id, name, email, token: await accessToken(service, id) };
    return people[name];
  };
  for (const name of names) await hire(name);

  const ask = (who: Person, method: string, path: string, body?: unknown, query = ''): Promise<Answer> =>
    service.client(who.token, method, `${path}?client_id=${clientId}${query}`, body === undefined ? {} : { body });
  const person = (name: string): Person => people[name] as Person;

  return {
    ...world,
    owner,
    people,
    person,
    hire,
    ask,
    /** Sends a configuration. Groups are {group: [names]}; a rule is [threshold, level, level...], and a level is [[group, group], [group]]. */
    configure: (groups: Record<string, string[]>, rules: [number | string, ...string[][][]][], currency = 'EUR') =>
      ask(
        owner,
        'POST',
        '/approvals-workflow/config',
        configuration(groups, rules, currency, (name) => person(name).id),
      ),
    patch: (who: Person, id: string, action: string) =>
      ask(who, 'PATCH', `/payments/${id}`, undefined, `&action=${action}`),
    payment: async (id: string, who: Person = owner) => (await ask(who, 'GET', `/payments/${id}`)).body,
    create: async (amount: number | string = 100, fields: object = {}): Promise<string> => {
      const made = await world.pay({ amount, ...fields });
      assert.equal(made.status, 201, made.text);
      return made.body.payment_id;
    },
    /** The payments that the search shows a contact as pending its approval. */
    pendingOf: async (who: Person, status = 'pending_your_approval'): Promise<string[]> => {
      const found = await ask(who, 'GET', '/payments', undefined, `&status=${status}&page_size=1000`);
      assert.equal(found.status, 200, found.text);
      assert.equal(Number(found.headers.get('x-total-count')), found.body.length);
      return found.body.map((payment: { payment_id: string }) => payment.payment_id);
    },
    /** The statuses of a payment that were notified, in order. */
    notified: async (id: string): Promise<string[]> => {
      const { rows } = await service.query(
        `select body from webhook_events where client_id = $1 and type = 'PAYMENT_STATUS_CHANGE' and body like $2 order by id`,
        [clientId, `%"payment_id":"${id}"%`],
      );
      return rows.map((row) => JSON.parse(row.body).payment_webhook_status[0]);
    },
  };
}

export type ApprovalsWorld = Awaited<ReturnType<typeof approvalsWorld>>;

export function configuration(
  groups: Record<string, string[]>,
  rules: [number | string, ...string[][][]][],
  currency: string,
  id: (name: string) => string,
) {
  return {
    groups: Object.entries(groups).map(([name, users]) => ({
      name,
      scope: 'payments',
      users: users.map((user) => ({ id: id(user) })),
    })),
    ruleset: {
      currency,
      rules: rules.map(([threshold, ...levels]) => ({
        minimum_threshold: new Exact(String(threshold)),
        groups: levels.map((level) => ({ one_of: level.map((names) => ({ all_of: names })) })),
      })),
    },
  };
}

/** Copies a payment that waits for approvals by SQL: one copy for each following second. */
export async function copyPayment(
  service: Pick<TestService, 'query'>,
  paymentId: string,
  copies: number,
): Promise<void> {
  const { rows } = await service.query(
    `select string_agg(column_name, ', ') as names from information_schema.columns where table_schema = 'public' and table_name = 'payments'
     and is_generated = 'NEVER' and column_name not in ('id', 'payment_id', 'uuid', 'created')`,
  );
  const names = rows[0].names as string;
  await service.query(
    `insert into payments (payment_id, uuid, created, ${names})
     select payment_id || '-' || i, gen_random_uuid(), created + i * interval '1 second', ${names}
     from payments, generate_series(1, $2::int) i where payment_id = $1`,
    [paymentId, copies],
  );
  const made = `payments p join payments o on o.client_id = p.client_id and o.payment_id = $1 where p.payment_id like $1 || '-%'`;
  await service.query(
    `insert into payment_approvals (payment_id, client_id, requirement, authorisations, remaining, status, state)
     select c.id, client_id, requirement, authorisations, remaining, status, state from payment_approvals a
       cross join (select p.id, o.id as of from ${made}) c where a.payment_id = c.of`,
    [paymentId],
  );
  await service.query(
    `insert into payment_approvers (client_id, contact_id, payment_id, created, payment_date, may_authorise, may_reject)
     select client_id, contact_id, c.id, c.created, c.payment_date, may_authorise, may_reject from payment_approvers a
       cross join (select p.id, p.created, p.payment_date, o.id as of from ${made}) c where a.payment_id = c.of`,
    [paymentId],
  );
  // PostgreSQL would do this in its own time. Until then, plans made for empty tables take seconds on a busy machine.
  await service.query('analyze payments, payment_approvals, payment_approvers');
}
