import type { Act } from '../../audit/act.ts';
import { audit } from '../../audit/record.ts';
import { type Db, first, type Transaction } from '../../database/database.ts';
import { isCalendarDay } from '../../values/calendar.ts';
import { Problem } from '../../values/errors.ts';
import { notify } from '../../webhooks/notification.ts';
import { findClient } from './client.ts';

export interface OnboardingInput {
  client_id: string;
  onboarding_status: string;
  id?: string;
  type?: string;
  account_number?: string | null;
  service_id?: string | null;
  became_client?: string | null;
}

/** The single entry of the payload (service interface, Events, Onboarding payload). */
export interface OnboardingEvent {
  type: string;
  links: { self: string };
  id: string;
  attributes: Record<string, string | null>;
}

/**
 * Records a change of a client's onboarding status and notifies the client. Customers of the mass payments offering are not notified.
 * @param presentation its brand word is part of the attribute's name: `<Brand>Id`
 * @throws Problem client_not_found, invalid_body
 */
export async function recordOnboarding(
  tx: Transaction,
  act: Act,
  presentation: { brand: string; apiUrl: string },
  input: OnboardingInput,
): Promise<OnboardingEvent> {
  const client = await findClient(tx, input.client_id, 'client_id');
  if (input.became_client != null && !isCalendarDay(input.became_client))
    throw new Problem('invalid_body', { field: 'became_client', message: 'must be a calendar day as YYYY-MM-DD' });
  const id = input.id ?? input.client_id;
  const event: OnboardingEvent = {
    type: input.type ?? 'client',
    links: {
      self: `${presentation.apiUrl}/onboarding-events/${encodeURIComponent(id)}?client_id=${encodeURIComponent(input.client_id)}`,
    },
    id,
    attributes: {
      OnboardingStatus: input.onboarding_status,
      AccountNumber: input.account_number ?? client.account_number,
      [`${presentation.brand}Id`]: input.service_id ?? input.client_id,
      BecameClient: input.became_client ?? client.became_client,
    },
  };
  await tx.query(
    `insert into onboarding_events (client_id, id, event, recorded_at) values ($1, $2, $3, $4)
     on conflict (client_id, id) do update set event = excluded.event, recorded_at = excluded.recorded_at`,
    [input.client_id, id, JSON.stringify(event), act.now],
  );
  audit(tx, act, {
    action: 'create',
    entity: 'onboarding_event',
    entityId: id,
    clientId: input.client_id,
    after: event,
  });
  if (!client.mass_payments_customer) {
    await notify(tx, {
      clientId: input.client_id,
      type: 'ONBOARDING_STATUS_CHANGE',
      body: JSON.stringify({ data: [event] }),
      now: act.now,
    });
  }
  return event;
}

/**
 * The last change of an onboarding of the client, as its notification showed it.
 * @throws Problem onboarding_event_not_found
 */
export async function findOnboardingEvent(db: Db, clientId: string, id: string): Promise<OnboardingEvent> {
  const row = first(
    await db.query<{ event: OnboardingEvent }>('select event from onboarding_events where client_id = $1 and id = $2', [
      clientId,
      id,
    ]),
  );
  if (!row) throw new Problem('onboarding_event_not_found', { field: 'id', message: 'does not exist' });
  return row.event;
}
