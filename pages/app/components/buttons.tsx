import type { ReactNode } from 'react';
import { Button } from '../../design/button.tsx';
import { Sample } from './sample.tsx';

const KINDS = ['primary', 'second', 'danger', 'quiet'] as const;

/** Buttons of each kind: ready, pending and disabled. */
export function Buttons(): ReactNode {
  return (
    <Sample name="Button">
      <div className="row">
        {KINDS.map((kind) => (
          <Button key={kind} kind={kind}>
            {kind}
          </Button>
        ))}
      </div>
      <div className="row">
        {KINDS.map((kind) => (
          <Button key={kind} kind={kind} isPending>
            {`${kind}, pending`}
          </Button>
        ))}
      </div>
      <div className="row">
        {KINDS.map((kind) => (
          <Button key={kind} kind={kind} isDisabled>
            {`${kind}, disabled`}
          </Button>
        ))}
      </div>
    </Sample>
  );
}
