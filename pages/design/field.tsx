import { type ComponentProps, type ReactNode, useId } from 'react';
import './field.css';

interface FieldProps {
  /** The visible label, and the accessible name. */
  label: string;
  hint?: ReactNode;
  /** What is wrong with the value, in words for the person. */
  error?: string | undefined;
}

interface Described {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
}

/** A label, its control, a hint, and an error. */
function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & { children: (described: Described) => ReactNode }): ReactNode {
  const id = useId();
  const described: Described = { id };
  const by = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  if (by) described['aria-describedby'] = by;
  if (error) described['aria-invalid'] = true;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(described)}
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {error && (
        <span className="field-error" id={`${id}-error`} role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

export function TextField({ label, hint, error, ...input }: FieldProps & ComponentProps<'input'>): ReactNode {
  return (
    <Field label={label} hint={hint} error={error}>
      {(described) => <input type="text" {...input} {...described} />}
    </Field>
  );
}

export function TextArea({ label, hint, error, ...area }: FieldProps & ComponentProps<'textarea'>): ReactNode {
  return (
    <Field label={label} hint={hint} error={error}>
      {(described) => <textarea rows={3} {...area} {...described} />}
    </Field>
  );
}

/** A choice: the browser's own list, which phones and screen readers support best. Its children are `option` elements. */
export function Select({ label, hint, error, ...select }: FieldProps & ComponentProps<'select'>): ReactNode {
  return (
    <Field label={label} hint={hint} error={error}>
      {(described) => <select {...select} {...described} />}
    </Field>
  );
}

export function Checkbox({ label, hint, ...input }: Omit<FieldProps, 'error'> & ComponentProps<'input'>): ReactNode {
  const id = useId();
  return (
    <div className="checkbox">
      <input type="checkbox" {...input} id={id} aria-describedby={hint ? `${id}-hint` : undefined} />
      <label htmlFor={id}>{label}</label>
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}
