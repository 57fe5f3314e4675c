import { MAX_IDEMPOTENCY_KEY } from '../../operator/idempotency.ts';
import type { DescribedOperation } from './headers.ts';

const REPLAYED = {
  description: 'The answer was stored; nothing was done a second time',
  schema: { type: 'string', enum: ['true'] },
};

/** Describes the key that makes a POST safe to repeat, and the header of its stored answer. */
export function addIdempotencyKey(operation: DescribedOperation): void {
  const parameter = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'The same key and body within 24 hours give the stored answer again',
    schema: { type: 'string', minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY },
  };
  operation.parameters = [...(operation.parameters ?? []), parameter];
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) continue;
    response.headers = { ...response.headers, 'idempotency-replayed': REPLAYED };
  }
}
