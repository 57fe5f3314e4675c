import type { ReactNode } from 'react';

/** A component with its name. */
export function Sample({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <section className="card stack" aria-label={name}>
      <h2>{name}</h2>
      {children}
    </section>
  );
}
