import type { ReactNode } from 'react';
import { useText } from '../texts/text.tsx';
import './steps.css';

export interface Step {
  title: ReactNode;
  state: 'done' | 'now' | 'later' | 'failed';
  /** When, who and why. */
  detail?: ReactNode;
}

/** The steps of something through its states, in order. */
export function Steps({ name, steps }: { name: string; steps: Step[] }): ReactNode {
  const t = useText();
  return (
    <ol className="steps" aria-label={name}>
      {steps.map(({ title, state, detail }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place
        <li key={index} className={state} aria-current={state === 'now' ? 'step' : undefined}>
          <strong>{title}</strong>
          <span className="visually-hidden">{t(`design.step.${state}`)}</span>
          {detail && <div className="small quiet">{detail}</div>}
        </li>
      ))}
    </ol>
  );
}
