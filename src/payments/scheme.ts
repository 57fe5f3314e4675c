/** Payment schemes; only SWIFT payments can be tracked by their uuid. */
export const SCHEMES = [
  'SWIFT',
  'SEPA',
  'SEPA_INSTANT',
  'FPS',
  'BACS',
  'CHAPS',
  'ACH',
  'FEDWIRE',
  'TARGET2',
  'LOCAL',
  'INTERNAL',
] as const;
export type Scheme = (typeof SCHEMES)[number];
