import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure, Loading } from '../../design/states.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';

interface PartProps<Value> {
  title: TextKey;
  read: (signal: AbortSignal) => Promise<Value>;
  /** The acts on this part. */
  acts: (value: Value) => ReactNode;
  children: (value: Value) => ReactNode;
}

/** A part of the settings: its name, its acts, and its current values. */
export function Part<Value>({ title, read, acts, children }: PartProps<Value>): ReactNode {
  const t = useText();
  const { data, error, refetch } = useQuery({ queryKey: ['setting', title], queryFn: ({ signal }) => read(signal) });
  return (
    <section className="card stack" aria-labelledby={title}>
      <div className="row apart">
        <h2 id={title}>{t(title)}</h2>
        {data !== undefined && acts(data)}
      </div>
      {data === undefined && (error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={2} />)}
      {data !== undefined && children(data)}
    </section>
  );
}
