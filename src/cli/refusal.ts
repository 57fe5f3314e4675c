import { LombardError } from '../../sdk/src/index.ts';
import { type ErrorCode, MESSAGES } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';

const RECORDS = {
  notification_not_found: 'a notification of this client that is kept',
  subscription_not_found: 'a subscription of this client',
} as const;
type Missing = keyof typeof RECORDS;

/** A refusal that the service would answer, if the command knows it in advance. */
export function refusal(code: ErrorCode, details: string): LombardError {
  return new LombardError({ code, message: MESSAGES[code], details });
}

/** A record that does not exist. @param field where its id was given */
export function notFound(code: Missing, field = 'id'): LombardError {
  return refusal(code, `${field}: does not name ${RECORDS[code]}`);
}

/** A UUID in lower case. GraphQL would refuse other texts in words of its own. @throws LombardError */
export function uuid(text: string | undefined, code: Missing, field?: string): string {
  if (text === undefined || !isUuid(text)) throw notFound(code, field);
  return text.toLowerCase();
}
