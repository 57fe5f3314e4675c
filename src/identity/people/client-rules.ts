import type { Config } from '../../settings/config.ts';
import { isCalendarDay } from '../../values/calendar.ts';
import { Problem } from '../../values/errors.ts';
import { parseUri } from '../uri.ts';

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
      message: `must be an address with ${schemes.join(' or ')}, without user and fragment, percent-encoded (RFC 3986)`,
    });
  }
  if (day != null && !isCalendarDay(day))
    throw new Problem('invalid_body', { field: 'became_client', message: 'must be a calendar day as YYYY-MM-DD' });
}

function isPushAddress(address: string, schemes: string[]): boolean {
  const parsed = parseUri(address);
  return parsed !== undefined && schemes.includes(parsed.protocol) && parsed.username === '' && parsed.hash === '';
}
