import type { Answer } from '../../world/service.ts';
import type { Caller } from '../caller.ts';

/** Acknowledgements of one consumer. */
const ACKNOWLEDGED = 2;
const MAX_PAGE_CHANGES = 50;

/** A program of the institution reads the change feed, acknowledges each page, and every second one leaves. */
export async function consume(at: Caller): Promise<void> {
  const { consumers } = at.known;
  const name = at.ledger.mark();
  let after = '';
  for (let page = 0; page < ACKNOWLEDGED; page += 1) {
    const read = {
      method: 'GET',
      path: `/changes?limit=${at.random.whole(1, MAX_PAGE_CHANGES)}${after}`,
      silent: true,
    };
    const { status, answer } = await at.operator('page of the feed', read);
    if (status !== 200) return;
    const { cursor } = (answer as Answer).body as { cursor: string };
    after = `&after=${cursor}`;
    const acknowledged = { method: 'PUT', path: `/change-consumers/${name}`, body: { cursor }, silent: true };
    const done = await at.operator('acknowledgement', acknowledged);
    consumers.set(name, done.status === 200 ? [cursor] : [...(consumers.get(name) ?? [null]), cursor]);
    if (done.status !== 200) return;
  }
  if (consumers.size % 2 === 1) return;
  const left = await at.operator('consumer deleted', { method: 'DELETE', path: `/change-consumers/${name}` });
  consumers.set(name, left.status === 204 ? [null] : [...(consumers.get(name) ?? []), null]);
}
