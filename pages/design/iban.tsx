import { Fragment, type ReactNode } from 'react';
import { visible } from './foreign-text.tsx';
import './iban.css';

/** An IBAN in fours, as people read it (ISO 13616, its paper form). Its text has no spaces, and nor has a copy of it. */
export function Iban({ children }: { children: string }): ReactNode {
  return (
    <bdi className="iban">
      {(visible(children).match(/.{1,4}/g) ?? []).map((four, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a four is its place
        <Fragment key={index}>
          {index > 0 && <wbr />}
          <span>{four}</span>
        </Fragment>
      ))}
    </bdi>
  );
}
