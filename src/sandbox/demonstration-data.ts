import type { Permission } from '../identity/contact.ts';

/**
 * Who is in the demonstration institution (docs/sandbox.md). Everything here is public: it exists in the sandbox only.
 * IBANs are the examples of the IBAN registry, so that no payment of a trial could ever reach anybody.
 */

/** The password of every contact. */
export const DEMO_PASSWORD = 'lombard-sandbox';

export const DEMO_APPLICATION = {
  client_id: 'demo-app',
  name: 'Demonstration application',
  client_secret: 'demo-secret-of-the-sandbox-known-to-everybody',
  redirect_uri: 'http://127.0.0.1:3000/callback',
};

const ALL: Permission[] = [
  'can_authorise_payments',
  'can_manage_payments',
  'can_manage_multipayments',
  'can_manage_permissions',
  'can_manage_webhooks',
];

export interface DemoClient {
  client_id: string;
  client_name: string;
  account_number: string;
  /** Who books its payments. */
  creators: string[];
  payments: number;
}

export const DEMO_CLIENTS: DemoClient[] = [
  {
    client_id: 'CLI000001',
    client_name: 'Ashdown Imports Ltd',
    account_number: '10048213',
    creators: ['CON000002', 'CON000002', 'CON000001'],
    payments: 240,
  },
  {
    client_id: 'CLI000002',
    client_name: 'Brunel Marine plc',
    account_number: '10059377',
    creators: ['CON000004', 'CON000006'],
    payments: 180,
  },
];

export const DEMO_CONTACTS: {
  contact_id: string;
  name: string;
  email: string;
  clients: { client_id: string; permissions: Permission[] }[];
}[] = [
  {
    contact_id: 'CON000001',
    name: 'Ada Ashdown',
    email: 'ada@ashdown.example',
    clients: [{ client_id: 'CLI000001', permissions: ALL }],
  },
  {
    contact_id: 'CON000002',
    name: 'Ben Clarke',
    email: 'ben@ashdown.example',
    clients: [{ client_id: 'CLI000001', permissions: ['can_manage_payments', 'can_manage_multipayments'] }],
  },
  {
    contact_id: 'CON000003',
    name: 'Chloé Martin',
    email: 'chloe@ashdown.example',
    clients: [{ client_id: 'CLI000001', permissions: ['can_authorise_payments'] }],
  },
  {
    contact_id: 'CON000004',
    name: 'Edith Brunel',
    email: 'edith@brunel.example',
    clients: [{ client_id: 'CLI000002', permissions: ALL }],
  },
  {
    contact_id: 'CON000005',
    name: 'Farid Haddad',
    email: 'farid@brunel.example',
    clients: [{ client_id: 'CLI000002', permissions: ['can_authorise_payments'] }],
  },
  {
    contact_id: 'CON000006',
    name: 'Isla Reid',
    email: 'isla@brunel.example',
    clients: [
      { client_id: 'CLI000002', permissions: ['can_authorise_payments', 'can_manage_payments', 'can_manage_webhooks'] },
    ],
  },
  {
    contact_id: 'CON000007',
    name: 'Grace Holm',
    email: 'grace@holm.example',
    clients: [
      { client_id: 'CLI000001', permissions: [] },
      { client_id: 'CLI000002', permissions: [] },
    ],
  },
];

/** Brunel Marine's approvals: one of finance from 0 on, one of finance and a director from 25,000 pounds on. */
export const DEMO_RULESET = {
  groups: [
    { name: 'finance', scope: 'payments', users: [{ id: 'CON000004' }, { id: 'CON000005' }] },
    { name: 'directors', scope: 'payments', users: [{ id: 'CON000004' }, { id: 'CON000006' }] },
  ],
  ruleset: {
    currency: 'GBP',
    rules: [
      { minimum_threshold: 0, groups: [{ one_of: [{ all_of: ['finance'] }, { all_of: ['directors'] }] }] },
      {
        minimum_threshold: 25_000,
        groups: [{ one_of: [{ all_of: ['finance'] }] }, { one_of: [{ all_of: ['directors'] }] }],
      },
    ],
  },
};

/** Units of each currency for one pound. */
export const DEMO_RATES: Record<string, string> = {
  EUR: '1.1710',
  USD: '1.2735',
  JPY: '190.42',
  CHF: '1.1168',
  AUD: '1.9307',
  CAD: '1.7321',
  SEK: '13.3650',
  NOK: '13.6120',
  PLN: '5.0480',
  CZK: '29.3900',
  SGD: '1.7094',
  HKD: '9.9310',
};

export interface DemoBank {
  currency: string;
  country: string;
  iban?: string;
  account_number?: string;
  bank_identifier?: string;
  swift_code: string;
  scheme: string;
}

/** One bank account in each currency; each client has a beneficiary there. */
export const DEMO_BANKS: DemoBank[] = [
  { currency: 'GBP', country: 'GB', iban: 'GB29NWBK60161331926819', swift_code: 'NWBKGB2LXXX', scheme: 'FPS' },
  { currency: 'EUR', country: 'DE', iban: 'DE89370400440532013000', swift_code: 'COBADEFFXXX', scheme: 'SEPA' },
  { currency: 'EUR', country: 'FR', iban: 'FR1420041010050500013M02606', swift_code: 'PSSTFRPPXXX', scheme: 'SEPA' },
  { currency: 'EUR', country: 'ES', iban: 'ES9121000418450200051332', swift_code: 'CAIXESBBXXX', scheme: 'SEPA' },
  { currency: 'EUR', country: 'IT', iban: 'IT60X0542811101000000123456', swift_code: 'BPMOIT22XXX', scheme: 'SEPA' },
  { currency: 'EUR', country: 'NL', iban: 'NL91ABNA0417164300', swift_code: 'ABNANL2AXXX', scheme: 'SEPA' },
  { currency: 'CHF', country: 'CH', iban: 'CH9300762011623852957', swift_code: 'UBSWCHZH80A', scheme: 'SWIFT' },
  { currency: 'SEK', country: 'SE', iban: 'SE4550000000058398257466', swift_code: 'ESSESESSXXX', scheme: 'SWIFT' },
  { currency: 'NOK', country: 'NO', iban: 'NO9386011117947', swift_code: 'DNBANOKKXXX', scheme: 'SWIFT' },
  { currency: 'PLN', country: 'PL', iban: 'PL61109010140000071219812874', swift_code: 'WBKPPLPPXXX', scheme: 'SWIFT' },
  { currency: 'CZK', country: 'CZ', iban: 'CZ6508000000192000145399', swift_code: 'GIBACZPXXXX', scheme: 'SWIFT' },
  {
    currency: 'USD',
    country: 'US',
    account_number: '000123456789',
    bank_identifier: '021000021',
    swift_code: 'CHASUS33XXX',
    scheme: 'SWIFT',
  },
  {
    currency: 'JPY',
    country: 'JP',
    account_number: '1234567',
    bank_identifier: '0005001',
    swift_code: 'BOTKJPJTXXX',
    scheme: 'SWIFT',
  },
  {
    currency: 'AUD',
    country: 'AU',
    account_number: '12345678',
    bank_identifier: '062000',
    swift_code: 'CTBAAU2SXXX',
    scheme: 'SWIFT',
  },
  {
    currency: 'CAD',
    country: 'CA',
    account_number: '1234567',
    bank_identifier: '000300002',
    swift_code: 'ROYCCAT2XXX',
    scheme: 'SWIFT',
  },
  {
    currency: 'SGD',
    country: 'SG',
    account_number: '0012345678',
    bank_identifier: '7171001',
    swift_code: 'DBSSSGSGXXX',
    scheme: 'SWIFT',
  },
  {
    currency: 'HKD',
    country: 'HK',
    account_number: '123456789001',
    bank_identifier: '004',
    swift_code: 'HSBCHKHHHKH',
    scheme: 'SWIFT',
  },
];

/** Names of beneficiaries, one for each client and bank. */
export const DEMO_BENEFICIARIES: Record<string, string[]> = {
  CLI000001: [
    'Weald Packaging Ltd',
    'Müller Werkzeuge GmbH',
    'Ateliers Lefèvre SAS',
    'Aceites del Sur SL',
    'Ceramiche Rossi Srl',
    'Van Dijk Bloemen BV',
    'Uhren Keller AG',
    'Björk Möbler AB',
    'Fjordfisk AS',
    'Łódź Tekstylia Sp. z o.o.',
    'Sklárna Novák s.r.o.',
    'Midwest Grain Trading Inc',
    '東京貿易株式会社',
    'Southern Cross Wool Pty Ltd',
    'Maple Timber Corp',
    'Straits Spice Pte Ltd',
    'Harbour Electronics Ltd',
  ],
  CLI000002: [
    'Severn Chandlers Ltd',
    'Nordsee Dieseltechnik GmbH',
    'Chantiers de Bretagne SA',
    'Astilleros Vigo SL',
    'Eliche Genova SpA',
    'Rotterdam Bunker BV',
    'Genfer Schiffsregister AG',
    'Göteborg Varv AB',
    'Bergen Navigasjon AS',
    'Stocznia Gdynia SA',
    'Labe Logistika s.r.o.',
    'Gulf Marine Supply LLC',
    'Kobe Engine Works KK',
    'Fremantle Rigging Pty Ltd',
    'Halifax Salvage Inc',
    'Jurong Dockyard Pte Ltd',
    'Kowloon Ship Agency Ltd',
  ],
};

/** An instruction to create many beneficiaries, two of which could not be created. */
export const DEMO_MASS_BENEFICIARY = {
  mass_beneficiary_id: '3f1b8a52-6c0d-4f5e-9b1e-2f6a7c8d9e01',
  client_id: 'CLI000001',
  status: 'created' as const,
  errors: [
    {
      code: 'invalid_iban',
      message: 'The IBAN is not valid',
      details: 'beneficiaries[3].iban: its check digits are wrong',
      request_index: 3,
    },
    {
      code: 'missing_field',
      message: 'A field is missing',
      details: 'beneficiaries[8].beneficiary_name: is required',
      request_index: 8,
    },
  ],
};
