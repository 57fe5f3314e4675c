import type { CellForm, FieldForm } from '../acts/form-values.ts';

export const SPREAD_COLUMNS: readonly CellForm[] = [
  { kind: 'text', name: 'sell_currency', label: 'console.trade.sells', maxLength: 3 },
  { kind: 'text', name: 'buy_currency', label: 'console.trade.buys', maxLength: 3 },
  { kind: 'whole', name: 'spread_bps', label: 'console.pricing.spread' },
];

/** The pricing that applies to all clients. */
export const ALL_PRICING_FIELDS: readonly FieldForm[] = [
  { kind: 'whole', name: 'quote_seconds', label: 'console.pricing.seconds' },
  { kind: 'whole', name: 'default_spread_bps', label: 'console.pricing.spread', hint: 'console.pricing.bps' },
  { kind: 'whole', name: 'rate_max_age_seconds', label: 'console.pricing.age', hint: 'console.pricing.age.hint' },
  { kind: 'rows', name: 'spreads', label: 'console.pricing.spreads', columns: SPREAD_COLUMNS },
];

/** What a forward adds to the rate of a currency pair. */
export const POINT_FIELDS: readonly FieldForm[] = [
  { kind: 'text', name: 'sell_currency', label: 'console.trade.sells', required: true, maxLength: 3 },
  { kind: 'text', name: 'buy_currency', label: 'console.trade.buys', required: true, maxLength: 3 },
  {
    ...{ kind: 'rows', name: 'points', label: 'console.points.title', hint: 'console.points.hint' },
    columns: [
      { kind: 'whole', name: 'days', label: 'console.points.days' },
      { kind: 'number', name: 'points', label: 'console.points.points' },
    ],
  },
];

const CUTOFF_FIELDS = [
  { kind: 'time', name: 'cutoff_time', label: 'console.currency.cutoff' },
  { kind: 'text', name: 'cutoff_timezone', label: 'console.currency.zone', initial: 'Europe/London', maxLength: 64 },
] as const satisfies readonly CellForm[];

/** Days of the week, numbered from 1 as in ISO 8601. */
export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

/** How a currency is settled and traded. */
export const CURRENCY_FIELDS: readonly FieldForm[] = [
  { kind: 'text', name: 'currency', label: 'console.col.currency', required: true, maxLength: 3 },
  { kind: 'whole', name: 'decimals', label: 'console.currency.decimals' },
  { kind: 'whole', name: 'cutoff_days', label: 'console.currency.days' },
  ...CUTOFF_FIELDS,
  { kind: 'choices', name: 'weekend', label: 'console.currency.weekend', options: WEEKDAYS },
  {
    ...{ kind: 'rows', name: 'holidays', label: 'console.system.holidays' },
    columns: [
      { kind: 'day', name: 'date', label: 'console.currency.date' },
      { kind: 'text', name: 'name', label: 'console.col.name', maxLength: 140 },
    ],
  },
  { kind: 'number', name: 'minimum', label: 'console.currency.minimum' },
  { kind: 'number', name: 'maximum', label: 'console.currency.maximum' },
];

const SCHEMES = [
  ...(['SWIFT', 'SEPA', 'SEPA_INSTANT', 'FPS', 'BACS', 'CHAPS'] as const),
  ...(['ACH', 'FEDWIRE', 'TARGET2', 'LOCAL', 'INTERNAL'] as const),
] as const;

/** Which payments use which scheme; the first matching rule decides. */
export const SCHEME_FIELDS: readonly FieldForm[] = [
  {
    ...{ kind: 'rows', name: 'rules', label: 'console.schemes.rules', hint: 'console.schemes.hint' },
    columns: [
      { kind: 'text', name: 'payment_currency', label: 'console.col.currency', maxLength: 3 },
      { kind: 'text', name: 'bank_country', label: 'console.schemes.country', maxLength: 4 },
      { kind: 'number', name: 'maximum', label: 'console.schemes.maximum' },
      { kind: 'choice', name: 'scheme', label: 'console.schemes.scheme', options: SCHEMES },
      ...CUTOFF_FIELDS,
      { kind: 'choice', name: 'every_day', label: 'console.schemes.everyDay', options: ['false', 'true'] },
    ],
  },
];

const ROUTE_COLUMNS: readonly CellForm[] = [
  { kind: 'text', name: 'account_number', label: 'console.col.iban', maxLength: 64 },
  {
    kind: 'choice',
    name: 'account_number_type',
    label: 'console.details.type',
    options: ['IBAN', 'BBAN'],
    any: 'console.details.none',
  },
  { kind: 'text', name: 'bank_identifier', label: 'console.details.bank', maxLength: 64 },
  { kind: 'text', name: 'bank_identifier_type', label: 'console.details.bankType', maxLength: 35 },
];

/** Where clients pay in: the fields that can be changed. */
export const DETAILS_FIELDS: readonly FieldForm[] = [
  { kind: 'text', name: 'country', label: 'console.details.country', required: true, maxLength: 2 },
  { kind: 'text', name: 'financial_institution_name', label: 'console.payee.bank', required: true, maxLength: 140 },
  { kind: 'text', name: 'account_holder_name', label: 'console.details.holder', required: true, maxLength: 140 },
  { kind: 'choice', name: 'status', label: 'console.col.status', options: ['confirmed', 'pending', 'failed'] },
  {
    kind: 'rows',
    name: 'domestic',
    label: 'console.details.domestic',
    columns: ROUTE_COLUMNS,
    hint: 'console.details.one',
  },
  {
    kind: 'rows',
    name: 'international',
    label: 'console.details.international',
    columns: ROUTE_COLUMNS,
    hint: 'console.details.one',
  },
  { kind: 'text', name: 'bank_address_line_1', label: 'console.payee.address', maxLength: 140 },
  { kind: 'text', name: 'bank_city', label: 'console.details.city', maxLength: 35 },
  { kind: 'text', name: 'bank_post_code', label: 'console.details.postCode', maxLength: 16 },
];
export const NEW_DETAILS_FIELDS: readonly FieldForm[] = [
  { kind: 'text', name: 'client_id', label: 'console.col.client', hint: 'console.details.client' },
  { kind: 'text', name: 'currency', label: 'console.col.currency', required: true, maxLength: 3 },
  ...DETAILS_FIELDS,
];
