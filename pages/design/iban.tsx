import { Fragment, type ReactNode } from 'react';
import { visible } from './foreign-text.tsx';
import './iban.css';

/** An IBAN in groups of four, as people read it (the paper form of ISO 13616). The text itself has no spaces, so copies have none either. */
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
