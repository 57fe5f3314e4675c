import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callOperator } from '../../data/operator-api.ts';
import { Moment } from '../../design/moment.tsx';
import { Status } from '../../design/notice.tsx';
import { useRichText } from '../../texts/text.tsx';

/** How often the page asks: a lock ends by itself. */
const INTERVAL_MS = 3_000;

/** Shows that a contact cannot sign in now, and until when. A caller's "I cannot sign in" is thus answered at the top of the page. */
export function ContactLock({ id }: { id: string }): ReactNode {
  const rich = useRichText();
  const { data } = useQuery({
    queryKey: ['contact', id, 'lock'],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /contacts/{contact_id}/lock', { path: { contact_id: id }, signal })).body,
    refetchInterval: INTERVAL_MS,
  });
  const { password_locked_until: password = null, second_factor_locked_until: factor = null } = data ?? {};
  return (
    <Status tone="warn">
      {(password || factor) && (
        <>
          {password && <p>{rich('console.contact.locked.password', { when: <Moment at={password} /> })}</p>}
          {factor && <p>{rich('console.contact.locked.factor', { when: <Moment at={factor} /> })}</p>}
        </>
      )}
    </Status>
  );
}
