import { type ComponentProps, type ReactNode, useId } from 'react';
import './chip-field.css';

interface ChipProps {
  label: string;
}

/** A one-line field with its label inside, for fields that are rarely filled. It is narrow until it is used. */
export function ChipField({ label, ...input }: ChipProps & ComponentProps<'input'>): ReactNode {
  const id = useId();
  return (
    <div className="chip">
      <label htmlFor={id}>{label}</label>
      <input
        type="text"
        {...input}
        id={id}
        data-filled={input.defaultValue ? '' : undefined}
        onInput={({ currentTarget }) => currentTarget.toggleAttribute('data-filled', currentTarget.value !== '')}
      />
    </div>
  );
}

/** Like `ChipField`, with a choice. Its children are `option` elements; the first one is selected by default. */
export function ChipSelect({
  label,
  isFilled,
  ...select
}: ChipProps & { isFilled: boolean } & ComponentProps<'select'>): ReactNode {
  const id = useId();
  return (
    <div className="chip">
      <label htmlFor={id}>{label}</label>
      <select {...select} id={id} data-filled={isFilled ? '' : undefined} />
    </div>
  );
}
