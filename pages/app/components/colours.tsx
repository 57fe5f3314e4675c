import type { ReactNode } from 'react';
import { Sample } from './sample.tsx';
import './colours.css';

const TOKENS = [
  'page',
  'card',
  'soft',
  'line',
  'edge',
  'text',
  'quiet',
  'brand',
  'accent',
  'good',
  'warn',
  'bad',
  'info',
];

/** The colours of the current theme, by token. */
export function Colours(): ReactNode {
  return (
    <Sample name="tokens.css">
      <ul className="colours">
        {TOKENS.map((token) => (
          <li key={token}>
            <span className="colour" style={{ background: `var(--${token})` }} />
            <code>--{token}</code>
          </li>
        ))}
      </ul>
    </Sample>
  );
}
