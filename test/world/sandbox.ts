import { accessToken } from './access-token.ts';
import { createWorld, type Hired } from './client.ts';
import type { Answer, TestService } from './service.ts';

/** A call of a contact for its client. */
type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** A client of the sandbox, its contacts' calls, and the notifications that it received. */
export async function createIntegrator(service: TestService, client: object = {}) {
  const world = await createWorld(service, 'Integrator Ltd', client);
  const token = await accessToken(service, world.contactId);
  const { clientId } = world;
  const as =
    (bearer: string): Ask =>
    (method, path, body) =>
      service.client(
        bearer,
        method,
        `${path}${path.includes('?') ? '&' : '?'}client_id=${clientId}`,
        body === undefined ? {} : { body },
      );
  return {
    ...world,
    token,
    as,
    ask: as(token),
    /** Another contact with a token. */
    join: async (name: string, permissions?: string[]): Promise<Hired & { token: string; ask: Ask }> => {
      const hired = await world.hire(name, {}, permissions);
      const own = await accessToken(service, hired.contactId);
      return { ...hired, token: own, ask: as(own) };
    },
    /** The bodies of all notifications, in order. */
    // biome-ignore lint/suspicious/noExplicitAny: each test decides what it reads of a body
    bodies: async (): Promise<{ type: string; body: any }[]> => {
      const { rows } = await service.query(
        'select type, body from webhook_events where client_id = $1 order by created_at, id',
        [clientId],
      );
      return rows.map(({ type, body }) => ({ type, body: JSON.parse(body) }));
    },
    /** All notifications in order: the type, and for payments and trades the id and the status. */
    notified: async (): Promise<string[]> => {
      const { rows } = await service.query(
        'select type, body from webhook_events where client_id = $1 order by created_at, id',
        [clientId],
      );
      return rows.map(({ type, body }) => {
        const { data, payment_webhook_status: statuses } = JSON.parse(body);
        return [type, statuses?.[0] ?? (type === 'TRADE_STATUS_CHANGE' ? data[0].status : undefined)]
          .filter(Boolean)
          .join(':');
      });
    },
    /** The webhook statuses of one payment's notifications, in order. */
    statusesOf: async (id: string): Promise<string[]> => {
      const { rows } = await service.query(
        `select body from webhook_events where client_id = $1 and type = 'PAYMENT_STATUS_CHANGE' order by created_at, id`,
        [clientId],
      );
      return rows
        .map((row) => JSON.parse(row.body))
        .filter((body) => body.data[0].payment_id === id)
        .map((body) => body.payment_webhook_status[0]);
    },
  };
}
export type Integrator = Awaited<ReturnType<typeof createIntegrator>>;
