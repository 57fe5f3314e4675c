import type { FieldForm } from '../acts/form-values.ts';
import { SPREAD_COLUMNS } from '../settings/fields.ts';

const WORKFLOWS = ['simple', '4-eyes', '6-eyes', '8-eyes', '10-eyes'] as const;

/** The fields of a client record. */
export const CLIENT_FIELDS: readonly FieldForm[] = [
  { kind: 'text', name: 'client_name', label: 'console.col.name', required: true, maxLength: 255 },
  { kind: 'text', name: 'account_number', label: 'console.col.account', maxLength: 64 },
  { kind: 'flag', name: 'fx_enabled', label: 'console.client.fx' },
  { kind: 'flag', name: 'mass_payments_customer', label: 'console.client.mass' },
  { kind: 'day', name: 'became_client', label: 'console.col.since' },
  { kind: 'text', name: 'statement_push_url', label: 'console.client.push' },
  {
    ...{ kind: 'text', name: 'statement_push_secret', label: 'console.client.pushSecret' },
    hint: 'console.client.pushSecret.hint',
  },
];

/** Who must approve the client's payments. */
export const APPROVAL_FIELDS: readonly FieldForm[] = [
  { kind: 'flag', name: 'payment_approvals_enabled', label: 'console.client.approvals' },
  {
    ...{ kind: 'choice', name: 'authorisation_workflow', label: 'console.col.workflow', options: WORKFLOWS },
    hint: 'console.client.workflow.hint',
  },
  { kind: 'flag', name: 'payment_creator_approval_enabled', label: 'console.client.creator' },
  { kind: 'flag', name: 'approval_step_up', label: 'console.col.stepUp' },
];

/** What the client's receivers are told about its onboarding. */
export const ONBOARDING_FIELDS: readonly FieldForm[] = [
  {
    ...{ kind: 'text', name: 'onboarding_status', label: 'console.onboarding.status', required: true },
    ...{ hint: 'console.onboarding.status.hint', maxLength: 128 },
  },
];

/** What the client's contacts may order in a day. */
export const LIMIT_FIELDS: readonly FieldForm[] = [
  { kind: 'number', name: 'amount', label: 'console.client.limit', hint: 'console.client.limit.hint' },
  { kind: 'text', name: 'currency', label: 'console.col.currency', maxLength: 3 },
];

const YES_NO = ['true', 'false'] as const;

/** What the client pays for exchanges, and its currencies. */
export const PRICING_FIELDS: readonly FieldForm[] = [
  { kind: 'whole', name: 'spread_bps', label: 'console.pricing.spread', hint: 'console.pricing.spread.hint' },
  { kind: 'rows', name: 'spreads', label: 'console.pricing.spreads', columns: SPREAD_COLUMNS },
  {
    ...{ kind: 'rows', name: 'currencies', label: 'console.pricing.currencies' },
    hint: 'console.pricing.currencies.hint',
    columns: [
      { kind: 'text', name: 'currency', label: 'console.col.currency', maxLength: 3 },
      { kind: 'choice', name: 'buy_allowed', label: 'console.pricing.buy', options: YES_NO },
      { kind: 'choice', name: 'sell_allowed', label: 'console.pricing.sell', options: YES_NO },
      { kind: 'choice', name: 'pay_allowed', label: 'console.pricing.pay', options: YES_NO },
    ],
  },
  { kind: 'text', name: 'default_currency', label: 'console.pricing.default', maxLength: 3 },
];

const PERMISSIONS = [
  ...(['can_create_payments', 'can_trade', 'can_manage_beneficiaries', 'can_authorise_payments'] as const),
  ...(['can_manage_payments', 'can_manage_multipayments', 'can_manage_permissions', 'can_manage_webhooks'] as const),
] as const;

/** The default permissions of a new contact. */
export const USUAL_PERMISSIONS = ['can_create_payments', 'can_manage_beneficiaries', 'can_authorise_payments'];

/** A person who signs in. */
export const CONTACT_FIELDS: readonly FieldForm[] = [
  { kind: 'text', name: 'name', label: 'console.col.name', required: true, maxLength: 255 },
  { kind: 'email', name: 'email', label: 'console.col.email', required: true, maxLength: 254 },
  { kind: 'phone', name: 'phone', label: 'console.col.phone', hint: 'console.contact.phone.hint' },
  {
    ...{ kind: 'choice', name: 'language', label: 'console.col.language', options: ['en', 'de', 'fr', 'es'] },
    any: 'console.contact.language.any',
  },
  { kind: 'choice', name: 'second_factor', label: 'console.col.secondFactor', options: ['none', 'sms'] },
];
export const PERMISSIONS_FIELD: FieldForm = {
  ...{ kind: 'choices', name: 'permissions', label: 'console.col.permissions', options: PERMISSIONS },
};
