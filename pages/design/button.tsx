import type { ReactNode, Ref } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import './button.css';

export interface ButtonProps {
  children: ReactNode;
  /** `primary` is the main act of a place. `danger` destroys or refuses. `second` is the usual one, and `quiet` is for use inside text. */
  kind?: 'primary' | 'second' | 'danger' | 'quiet';
  type?: 'button' | 'submit';
  /** The id of the form that it submits, if the button is outside the form. */
  form?: string;
  onPress?: (() => void) | undefined;
  isDisabled?: boolean | undefined;
  /** Its act is in progress: it cannot be pressed again, and keeps its name and the focus. */
  isPending?: boolean | undefined;
  autoFocus?: boolean;
  'aria-label'?: string;
  /** In a table: the id of the text that tells this button from others with the same name. */
  'aria-describedby'?: string;
  'aria-expanded'?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ kind = 'second', type = 'button', isPending, onPress, ...props }: ButtonProps): ReactNode {
  // React Aria's own pending state announces an empty image. Here, the part that is working says so in words.
  const pending = isPending ? { 'aria-disabled': true } : { onPress };
  return <AriaButton className={`button ${kind}`} type={isPending ? 'button' : type} {...props} {...pending} />;
}
