import { isCalendarDay } from '../calendar.ts';
import type { Config } from '../config.ts';
import { Problem } from '../errors.ts';

/**
 * Checks what the schema of a client's fields cannot express. Statements may be pushed over plain HTTP in the sandbox only.
 * @throws Problem invalid_body
 */
export function checkClient(
  input: { statement_push_url?: string | null; became_client?: string | null },
  environment: Config['environment'],
): void {
  const { statement_push_url: address, became_client: day } = input;
  const schemes = environment === 'sandbox' ? ['https:', 'http:'] : ['https:'];
  if (address != null && !isPushAddress(address, schemes)) {
    throw new Problem('invalid_body', {
      field: 'statement_push_url',
      message: `must be an address with ${schemes.join(' or ')}, without user and fragment`,
    });
  }
  if (day != null && !isCalendarDay(day))
    throw new Problem('invalid_body', { field: 'became_client', message: 'must be a calendar day as YYYY-MM-DD' });
}

function isPushAddress(address: string, schemes: string[]): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, username, hash } = new URL(address);
  return schemes.includes(protocol) && username === '' && hash === '';
}
