import type { ReactNode, Ref } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import './button.css';

export interface ButtonProps {
  children: ReactNode;
  /** `primary`: the one act of a place. `danger`: it destroys or refuses. `second` is the usual one, `quiet` stands inside text. */
  kind?: 'primary' | 'second' | 'danger' | 'quiet';
  type?: 'button' | 'submit';
  /** The id of the form that it submits, where it stands outside. */
  form?: string;
  onPress?: (() => void) | undefined;
  isDisabled?: boolean | undefined;
  /** It works: it cannot be pressed again, and keeps its name and the focus. */
  isPending?: boolean | undefined;
  autoFocus?: boolean;
  'aria-label'?: string;
  /** The id of the text that tells it from others of its name, in a table. */
  'aria-describedby'?: string;
  'aria-expanded'?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ kind = 'second', type = 'button', isPending, onPress, ...props }: ButtonProps): ReactNode {
  // React Aria's own pending state announces an empty image; the place that works says so in words.
  const pending = isPending ? { 'aria-disabled': true } : { onPress };
  return <AriaButton className={`button ${kind}`} type={isPending ? 'button' : type} {...props} {...pending} />;
}
