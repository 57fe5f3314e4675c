import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { visible } from '../../design/foreign-text.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';

/** The page of one record: fetches the record that the address names, and draws it. */
export function OneRecord<Value>({
  kind,
  title,
  read,
  actions,
  children,
}: {
  /** The first part of its query key. */
  kind: string;
  /** The text takes `id`. */
  title: TextKey;
  read: (id: string, signal: AbortSignal) => Promise<Value>;
  actions?: (record: Value) => ReactNode;
  children: (record: Value) => ReactNode;
}): ReactNode {
  const t = useText();
  const { id } = useParams({ strict: false }) as { id: string };
  const { data, error, refetch } = useQuery({ queryKey: [kind, id], queryFn: ({ signal }) => read(id, signal) });
  const name = t(title, { id: visible(id) });
  if (data === undefined)
    return <Page title={name}>{error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />}</Page>;
  return (
    <Page title={name} actions={actions?.(data)}>
      {children(data)}
    </Page>
  );
}
