import type { ReactNode } from 'react';
import drawings from './icons.json';
import './icon.css';

/** Drawings of Lucide (lucide.dev, icons.LICENSE): only the ones in use. */
export type IconName = keyof typeof drawings;

/** A drawing beside words with the same meaning. It is never the only sign, and screen readers skip it. */
export function Icon({ name }: { name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={drawings[name]} />
    </svg>
  );
}
