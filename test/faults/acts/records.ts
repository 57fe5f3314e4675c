import type { Caller } from '../caller.ts';

const IBAN = 'DE89370400440532013000';

export async function rename(at: Caller): Promise<void> {
  const body = { client_name: at.ledger.mark() };
  await at.operator('client renamed', { method: 'PATCH', path: `/clients/${at.party.clientId}`, body });
}

/** Who may approve changes while others approve. */
export async function permit(at: Caller): Promise<void> {
  const permissions = at.random.next() < 0.7 ? ['can_authorise_payments'] : [];
  const body = { clients: [{ client_id: at.party.clientId, permissions }] };
  const path = `/contacts/${at.random.pick(at.party.approvers).id}`;
  await at.operator('permission', { method: 'PATCH', path, body, silent: true });
}

export async function hire(at: Caller): Promise<void> {
  const name = at.ledger.mark();
  const clients = [{ client_id: at.party.clientId, permissions: [] }];
  const body = { name, email: `${name}@example.com`, clients };
  await at.operator('contact', { path: '/contacts', body, table: 'contacts', marks: [name] });
}

export async function unlock(at: Caller): Promise<void> {
  await at.operator('contact unlocked', { path: `/contacts/${at.random.pick(at.party.approvers).id}/unlock` });
}

export async function befriend(at: Caller): Promise<void> {
  const beneficiary_name = at.ledger.mark();
  const body = { client_id: at.party.clientId, beneficiary_name, iban: IBAN };
  const { status, answer } = await at.operator('beneficiary', { path: '/beneficiaries', body });
  if (status === 201) at.party.beneficiaries.push(answer?.body.beneficiary_id);
}

export async function renameBeneficiary(at: Caller): Promise<void> {
  const path = `/beneficiaries/${at.random.pick(at.party.beneficiaries)}`;
  const body = { beneficiary_name: at.ledger.mark() };
  await at.operator('beneficiary renamed', { method: 'PATCH', path, body });
}

/** What the core sends again every night: what it has is changed, what is new is created. */
export async function importBeneficiaries(at: Caller): Promise<void> {
  const client_id = at.party.clientId;
  const known = { beneficiary_id: at.random.pick(at.party.beneficiaries), beneficiary_name: at.ledger.mark() };
  const fresh = { beneficiary_id: `BEN-${at.ledger.mark()}`, beneficiary_name: at.ledger.mark() };
  const lines = [known, fresh].map((line) => JSON.stringify({ client_id, iban: IBAN, ...line })).join('\n');
  const { status } = await at.operator('import of beneficiaries', {
    path: '/imports/beneficiaries?on_conflict=update',
    lines,
  });
  if (status !== undefined && status < 300) at.party.beneficiaries.push(fresh.beneficiary_id);
}

export async function trade(at: Caller): Promise<void> {
  const { clientId: client_id, contactId: contact_id } = at.party;
  const reference = at.ledger.mark();
  const deal = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 1_000, rate: 1.17 };
  const body = { client_id, contact_id, ...deal, reference };
  const { status, answer } = await at.operator('trade', {
    ...{ path: '/trades', body, table: 'trades', marks: [reference] },
  });
  if (status === 201) at.party.trades.push(answer?.body.trade_id);
}

export async function moveTrade(at: Caller): Promise<void> {
  const body = { status: at.random.pick(['Created', 'Funds In Full']) };
  const path = `/trades/${at.random.pick(at.party.trades)}`;
  await at.operator('trade moved', { method: 'PATCH', path, body, silent: true });
}

export async function reportMass(at: Caller): Promise<void> {
  const errors = [{ code: 'E', message: at.ledger.mark(), details: 'x', request_index: 0 }];
  const body = { client_id: at.party.clientId, errors };
  const { status, answer } = await at.operator('mass beneficiary', { path: '/mass-beneficiaries', body });
  if (status !== 201) return;
  const path = `/mass-beneficiaries/${answer?.body.mass_beneficiary_id}`;
  const more = { errors: [...errors, { ...errors[0], message: at.ledger.mark() }] };
  await at.operator('mass beneficiary changed', { method: 'PATCH', path, body: more });
}

/** An account, and a change of it. */
export async function openAccount(at: Caller): Promise<void> {
  const body = { client_id: at.party.clientId, currency: 'EUR', account_type: 'Business' };
  const { status, answer } = await at.operator('account', { path: '/accounts', body });
  if (status !== 201) return;
  const path = `/accounts/${answer?.body.account_id}`;
  await at.operator('account changed', { method: 'PATCH', path, body: { account_details: [] } });
}

export async function openCurrencyAccount(at: Caller): Promise<void> {
  const currency = at.random.pick(['GBP', 'USD', 'JPY', 'CHF', 'SEK']);
  await at.operator('currency account', {
    path: '/currency-accounts',
    body: { client_id: at.party.clientId, currency },
  });
}

export async function onboard(at: Caller): Promise<void> {
  const body = { client_id: at.party.clientId, onboarding_status: 'Approved', account_number: at.ledger.mark() };
  await at.operator('onboarding event', { path: '/onboarding-events', body });
}

export async function quote(at: Caller): Promise<void> {
  const body = { base_currency: 'CHF', rates: { EUR: at.random.whole(90, 110) / 100 } };
  await at.operator('exchange rates', { method: 'PUT', path: '/exchange-rates', body, silent: true });
}

/** Files wait where markets are closed. */
export async function holidays(at: Caller): Promise<void> {
  const body = {
    mode: at.random.pick(['open', 'open', 'open', 'closed']),
    holidays: [`2027-01-0${at.random.whole(1, 9)}`],
  };
  await at.operator('FX availability', { method: 'PUT', path: '/fx-availability', body, silent: true });
}
