import type { ReactNode } from 'react';
import drawings from './icons.json';
import './icon.css';

/** Drawings of Lucide (lucide.dev, icons.LICENSE): only those that are used. */
export type IconName = keyof typeof drawings;

/** A drawing beside words that say the same: it is never the only sign, and nobody hears it. */
export function Icon({ name }: { name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={drawings[name]} />
    </svg>
  );
}
