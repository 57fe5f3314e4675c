import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { OwnSession } from '../../../src/http/app/session-answer.ts';
import { call } from '../../data/call.ts';
import { queryClient } from '../../data/queries.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { browserName } from './browser-name.ts';

const KEY = ['sessions'];

/** The browsers in which the person is signed in, and buttons to end those sessions. */
export function Sessions(): ReactNode {
  const t = useText();
  const list = useQuery({
    queryKey: KEY,
    queryFn: async ({ signal }) => (await call<OwnSession[]>('GET', '/app/sessions', { signal })).body,
  });
  const end = useMutation({
    mutationFn: (id: string) => call('DELETE', `/app/sessions/${id}`),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <section className="card stack" aria-label={t('profile.sessions')}>
      <div className="row apart">
        <h2>{t('profile.sessions')}</h2>
        <EverywhereButton />
      </div>
      {list.error ? <Failure error={list.error} onRetry={() => void list.refetch()} /> : list.isPending && <Loading />}
      {list.data && (
        <Table
          name={t('profile.sessions')}
          rows={list.data}
          rowKey={({ id }) => id}
          columns={[
            {
              key: 'browser',
              title: t('profile.browser'),
              cell: ({ id, browser }) => (
                <span id={`session-${id}`}>
                  <ForeignText>{browserName(browser)}</ForeignText>
                </span>
              ),
            },
            { key: 'created_at', title: t('profile.since'), cell: ({ created_at }) => <Moment at={created_at} /> },
            { key: 'active', title: t('profile.active'), cell: ({ last_active_at }) => <Moment at={last_active_at} /> },
            {
              key: 'end',
              title: t('profile.session.act'),
              cell: ({ id, current }) =>
                current ? (
                  <Badge tone="good">{t('profile.session.this')}</Badge>
                ) : (
                  <Button
                    aria-describedby={`session-${id}`}
                    onPress={() => end.mutate(id)}
                    isPending={end.isPending && end.variables === id}
                  >
                    {t('profile.session.end')}
                  </Button>
                ),
            },
          ]}
        />
      )}
      <Status>{end.isSuccess ? t('profile.session.ended') : undefined}</Status>
      {end.error && <Failure error={end.error} />}
    </section>
  );
}

function EverywhereButton(): ReactNode {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const end = useMutation({
    mutationFn: () => call('DELETE', '/app/sessions'),
    onSuccess: () => location.replace('/app'),
  });
  return (
    <>
      <Button onPress={() => setOpen(true)}>{t('profile.everywhere')}</Button>
      <Dialog
        title={t('profile.everywhere')}
        isOpen={isOpen}
        onBack={() => setOpen(false)}
        action={
          <Button kind="danger" onPress={() => end.mutate()} isPending={end.isPending}>
            {t('profile.everywhere')}
          </Button>
        }
      >
        <p>{t('profile.everywhere.text')}</p>
        {end.error && <Failure error={end.error} />}
      </Dialog>
    </>
  );
}
