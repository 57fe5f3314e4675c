/** The active codes of ISO 4217: list one of 2024-06-25 and the changes since (XAD, XCG). XXX is left out because it means "no currency". */
const ACTIVE = `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CLF
  CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR
  IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN
  MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP
  STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC
  XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA YER ZAR ZMW ZWG`;
/** Codes that were withdrawn since 2022. A core's records of earlier years contain them. */
const WITHDRAWN = 'ANG BGN CUC HRK SLL ZWL';

const CODES: ReadonlySet<string> = new Set(`${ACTIVE} ${WITHDRAWN}`.split(/\s+/));

/** What a refusal says about a code that is not a currency. */
export const A_CURRENCY = 'must be a currency of ISO 4217, as EUR';

/** Whether a code is a currency of ISO 4217. Filters do not check this: an unknown code finds nothing. */
export function isCurrency(code: string): boolean {
  return CODES.has(code);
}

/** Currencies that no client may use, whatever is set. Sanctions leave the institution no way to settle them. */
const EXCLUDED: ReadonlySet<string> = new Set(['RUB']);

/** Whether nobody may buy, sell or pay a currency. Records of the core may still have it. */
export function isExcluded(code: string): boolean {
  return EXCLUDED.has(code);
}

/** Digits after the point where they are not 2 (ISO 4217, list one). The list gives none for metals, funds and test codes. */
const OTHER_DECIMALS = new Map(
  Object.entries({
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
    4: 'CLF UYW',
  }).flatMap(([decimals, codes]) => codes.split(' ').map((code) => [code, Number(decimals)] as const)),
);

/** Digits after the point of a currency (ISO 4217): 2 for GBP, 0 for JPY, 3 for BHD. An unknown currency has 2. */
export function minorUnits(code: string): number {
  return OTHER_DECIMALS.get(code) ?? 2;
}
