import type { ReactNode } from 'react';
import './badge.css';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info';

/** A short state in words; the colour repeats their meaning. */
export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }): ReactNode {
  return <span className={`badge ${tone}`}>{children}</span>;
}
