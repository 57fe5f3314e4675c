import type { Context } from '../../context.ts';
import type { Advice } from '../server/unknown-address.ts';

/** What the institution puts in, and clients only read. */
const FED = [
  'payments',
  'multipayments',
  'mass-beneficiaries',
  'beneficiaries',
  'trades',
  'accounts',
  'currency-accounts',
  'transactions',
  'clients',
  'contacts',
];

/** Tells a program that tries to create what the institution creates, so that it looks no further in the client API. */
export function adviceFor({ config }: Pick<Context, 'config'>): Advice {
  return (method, path) => {
    const [, noun = '', ...rest] = path.split('/');
    if (method !== 'POST' || rest.length > 0 || !FED.includes(noun)) return undefined;
    const sandbox =
      noun === 'payments' && config.environment === 'sandbox'
        ? '; in the sandbox POST /sandbox/payments makes one'
        : '';
    return `the institution creates ${noun.replaceAll('-', ' ')}, through its operator interface (POST /${noun} there)${sandbox}`;
  };
}
