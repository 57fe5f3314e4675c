import { type ReactNode, useId, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { Button } from '../../design/button.tsx';
import { Checkbox, Select, TextArea, TextField } from '../../design/field.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { useWord } from '../lists/words.ts';
import type { FieldForm, RowForm, RowValue } from './form-values.ts';

/** Lines of a field that takes a list. */
const LIST_ROWS = 3;

/** The fields of a form, filled with the current values. */
export function FormFields({ fields, values }: { fields: readonly FieldForm[]; values: object }): ReactNode {
  return fields.map((field) => <FormField key={field.name} field={field} value={shownValue(values, field)} />);
}

/** A record's value for a field. A number keeps all its digits. */
function shownValue(record: object, { name, kind }: FieldForm): unknown {
  const value = (record as Record<string, unknown>)[name];
  return kind === 'number' && typeof value === 'number' ? decimal(record as Record<string, number>, name) : value;
}

function FormField({ field, value }: { field: FieldForm; value: unknown }): ReactNode {
  const t = useText();
  const { name, label, hint, required } = field;
  const shared = { name, label: t(label), ...(hint ? { hint: t(hint) } : {}), ...(required ? { required } : {}) };
  switch (field.kind) {
    case 'flag':
      return <Checkbox {...shared} defaultChecked={value === true} />;
    case 'choice':
      return <Choice {...shared} field={field} value={value} />;
    case 'choices':
      return <Choices field={field} chosen={(value ?? []) as readonly string[]} />;
    case 'lines':
      return <TextArea {...shared} rows={LIST_ROWS} defaultValue={((value ?? []) as unknown[]).join('\n')} />;
    case 'rows':
      return <Rows field={field} rows={(value ?? []) as readonly RowValue[]} />;
    default:
      return (
        <TextField
          {...shared}
          type={TYPES[field.kind] ?? 'text'}
          defaultValue={textOf(value)}
          autoComplete="off"
          {...(field.kind === 'number' ? { inputMode: 'decimal' as const } : {})}
          {...(field.maxLength ? { maxLength: field.maxLength } : {})}
        />
      );
  }
}

const TYPES: Partial<Record<FieldForm['kind'], string>> = {
  whole: 'number',
  day: 'date',
  time: 'time',
  email: 'email',
  phone: 'tel',
};

const textOf = (value: unknown) => (value === null || value === undefined ? '' : String(value));

interface ChoiceProps {
  name: string;
  label: string;
  field: { options: readonly string[]; any?: TextKey };
  value: unknown;
}

function Choice({ field: { options, any }, value, ...shared }: ChoiceProps): ReactNode {
  const t = useText();
  const word = useWord();
  return (
    <Select {...shared} defaultValue={textOf(value)}>
      {any && <option value="">{t(any)}</option>}
      {options.map((option) => (
        <option key={option} value={option}>
          {word(option)}
        </option>
      ))}
    </Select>
  );
}

/** A choice of several values. */
function Choices({
  field: { name, label, options },
  chosen,
}: {
  field: { name: string; label: TextKey; options: readonly string[] };
  chosen: readonly string[];
}): ReactNode {
  const t = useText();
  const word = useWord(name);
  return (
    <fieldset className="console-choices">
      <legend>{t(label)}</legend>
      {options.map((option) => (
        <Checkbox
          key={option}
          label={word(option)}
          name={name}
          value={option}
          defaultChecked={chosen.includes(option)}
        />
      ))}
    </fieldset>
  );
}

/** A list of small records, to which rows can be added. */
function Rows({ field, rows }: { field: RowForm; rows: readonly RowValue[] }): ReactNode {
  const t = useText();
  const id = useId();
  const [shown, show] = useState(() => rows.map((row, key) => ({ key, row })));
  const [next, setNext] = useState(rows.length);
  const add = () => {
    show([...shown, { key: next, row: {} }]);
    setNext(next + 1);
  };
  return (
    <fieldset className="console-rows">
      <legend>{t(field.label)}</legend>
      {field.hint && <p className="hint">{t(field.hint)}</p>}
      {shown.map(({ key, row }, place) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset within another one has a frame of its own
        <div className="console-row" key={key} role="group" aria-label={`${t(field.label)} ${place + 1}`}>
          {field.columns.map((column) => (
            <FormField
              key={column.name}
              field={{ ...column, name: `${field.name}.${column.name}` }}
              value={shownValue(row, column) ?? column.initial}
            />
          ))}
          <Button kind="quiet" onPress={() => show(shown.filter((each) => each.key !== key))}>
            {t('console.form.remove')}
          </Button>
        </div>
      ))}
      <span id={id} hidden>
        {t(field.label)}
      </span>
      <Button onPress={add} aria-describedby={id}>
        {t('console.form.add')}
      </Button>
    </fieldset>
  );
}
