/**
 * The bank accounts of the demonstration's beneficiaries, and the rates of their currencies. The IBANs are the examples of the IBAN
 * registry, so that no payment of a trial could ever reach anybody.
 */

/** Units of each currency for one pound sterling. */
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
  scheme: 'FPS' | 'SEPA' | 'SWIFT';
}

/** Each client has one beneficiary with an account at each bank. */
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

/** Further payees of each client, so that there are three each in pounds, euros and dollars. They have received no payments yet. */
const FURTHER_PAYEES: (Omit<DemoBank, 'scheme'> & { names: Record<string, string> })[] = [
  {
    ...{
      currency: 'GBP',
      country: 'GB',
      account_number: '66374958',
      bank_identifier: '089999',
      swift_code: 'CPBKGB22XXX',
    },
    names: { CLI000001: 'Pennine Haulage Ltd', CLI000002: 'Tyne Ropeworks Ltd' },
  },
  {
    ...{
      currency: 'GBP',
      country: 'GB',
      account_number: '63748472',
      bank_identifier: '202959',
      swift_code: 'BUKBGB22XXX',
    },
    names: { CLI000001: 'Fenland Storage LLP', CLI000002: 'Solent Sailmakers Ltd' },
  },
  {
    ...{ currency: 'USD', country: 'US', account_number: '000987654321', bank_identifier: '026009593' },
    swift_code: 'BOFAUS3NXXX',
    names: { CLI000001: 'Hudson Freight LLC', CLI000002: 'Chesapeake Marine Inc' },
  },
  {
    ...{ currency: 'USD', country: 'US', account_number: '000246813579', bank_identifier: '121000248' },
    swift_code: 'WFBIUS6SXXX',
    names: { CLI000001: 'Sierra Orchards Inc', CLI000002: 'Puget Sound Supply LLC' },
  },
];

/** The addresses of payees, and of their bank in countries that require it. */
const ADDRESSES: Record<string, { address_line_1: string; city: string; state_region?: string; post_code?: string }> = {
  US: { address_line_1: '1 Main Street', city: 'Springfield', state_region: 'Illinois', post_code: '62701' },
  CA: { address_line_1: '1 Main Street', city: 'Hamilton', state_region: 'Ontario', post_code: 'L8P 1A1' },
  AU: { address_line_1: '1 High Street', city: 'Geelong' },
  JP: { address_line_1: '1-1 Marunouchi', city: 'Tokyo' },
  HK: { address_line_1: '1 Queen’s Road', city: 'Hong Kong' },
  SG: { address_line_1: '1 Raffles Place', city: 'Singapore' },
};

/** The beneficiaries of a client, with those of the history first. @param clientIndex its index in DEMO_CLIENTS */
export function demonstrationPayees(clientId: string, clientIndex: number) {
  const names = DEMO_BENEFICIARIES[clientId] ?? [];
  const past = DEMO_BANKS.map(({ scheme: _scheme, ...bank }, index) => ({
    ...bank,
    number: clientIndex * DEMO_BANKS.length + index + 1,
    beneficiary_name: names[index] ?? 'Beneficiary',
  }));
  const first = Object.keys(DEMO_BENEFICIARIES).length * DEMO_BANKS.length + 1;
  const further = FURTHER_PAYEES.map(({ names: own, ...bank }, index) => ({
    ...bank,
    number: first + clientIndex * FURTHER_PAYEES.length + index,
    beneficiary_name: own[clientId] ?? 'Beneficiary',
  }));
  return [...past, ...further].map(({ number, country, ...payee }) => ({
    client_id: clientId,
    beneficiary_id: identifier(number),
    beneficiary_aml_id: `AML-${String(number).padStart(5, '0')}`,
    country_code: country,
    bank_country_code: country,
    ...ADDRESSES[country],
    ...payee,
  }));
}

/** Names of beneficiaries: for each client, one for each of DEMO_BANKS in the same order. */
const DEMO_BENEFICIARIES: Record<string, string[]> = {
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

/** The identifier of a client's beneficiary at a bank. @param clientIndex, bankIndex indexes in DEMO_CLIENTS and DEMO_BANKS */
export function beneficiaryId(clientIndex: number, bankIndex: number): string {
  return identifier(clientIndex * DEMO_BANKS.length + bankIndex + 1);
}

/** @param number that counts all beneficiaries from 1 */
function identifier(number: number): string {
  return `BEN${String(number).padStart(6, '0')}`;
}
