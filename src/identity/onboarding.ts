import { audit } from '../audit.ts';
import { isCalendarDay } from '../calendar.ts';
import type { Act } from '../context.ts';
import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { notify } from '../webhooks/notification.ts';
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

/** The only entry of the payload (the service interface, Events, Onboarding payload). */
export interface OnboardingEvent {
  type: string;
  links: { self: string };
  id: string;
  attributes: Record<string, string | null>;
}

/**
 * Records a change of a client's onboarding status and notifies the client. Customers of the mass payments offering are not notified.
 * @param presentation the brand word names the attribute `<Brand>Id`
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
    throw new Problem('invalid_body', { field: 'became_client', message: 'must be a calendar day, YYYY-MM-DD' });
  const id = input.id ?? input.client_id;
  const event: OnboardingEvent = {
    type: input.type ?? 'client',
    links: { self: `${presentation.apiUrl}/clients/${encodeURIComponent(id)}` },
    id,
    attributes: {
      OnboardingStatus: input.onboarding_status,
      AccountNumber: input.account_number ?? client.account_number,
      [`${presentation.brand}Id`]: input.service_id ?? input.client_id,
      BecameClient: input.became_client ?? client.became_client,
    },
  };
  await audit(tx, act, {
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
