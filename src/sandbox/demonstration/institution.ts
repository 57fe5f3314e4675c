import { DEFAULT_PERMISSIONS, PERMISSIONS, type Permission } from '../../identity/people/permission.ts';

/**
 * The clients of the demonstration institution and their people (docs/sandbox.md). Everything here is public, because it exists only in the
 * sandbox.
 */

/** The password of every contact. */
export const DEMO_PASSWORD = 'lombard-sandbox';

export const DEMO_APPLICATION = {
  client_id: 'demo-app',
  name: 'Demonstration application',
  client_secret: 'demo-secret-of-the-sandbox-known-to-everybody',
  redirect_uri: 'http://127.0.0.1:3000/callback',
};

/** The address to which the sample application returns people after they have signed in. @param port of LOMBARD_SAMPLE_PORT */
export function sampleRedirect(port: number | undefined): string {
  return port === undefined ? DEMO_APPLICATION.redirect_uri : `http://127.0.0.1:${port}/callback`;
}

export interface DemoClient {
  client_id: string;
  client_name: string;
  account_number: string;
  /** The contacts who create its payments. One who is listed twice creates twice as many. */
  creators: string[];
  /** The contact who created the waiting payments, so that the others can approve them. */
  openCreator: string;
  payments: number;
}

/** Whether a client's data is created: for all clients at first, and for one of them when it is reset. */
export type ChosenClient = (clientId: string) => boolean;

export const DEMO_CLIENTS: DemoClient[] = [
  {
    client_id: 'CLI000001',
    client_name: 'Ashdown Imports Ltd',
    account_number: '10048213',
    creators: ['CON000002', 'CON000002', 'CON000001'],
    openCreator: 'CON000002',
    payments: 240,
  },
  {
    client_id: 'CLI000002',
    client_name: 'Brunel Marine plc',
    account_number: '10059377',
    creators: ['CON000004', 'CON000006'],
    openCreator: 'CON000006',
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
    clients: [{ client_id: 'CLI000001', permissions: [...PERMISSIONS] }],
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
    clients: [{ client_id: 'CLI000002', permissions: [...DEFAULT_PERMISSIONS] }],
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

/** Brunel Marine's approvals: one from finance or a director; from 25,000 pounds, one from each. */
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

/** An instruction to create beneficiaries, two of which could not be created. */
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
