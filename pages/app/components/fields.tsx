import type { ReactNode } from 'react';
import { Checkbox, Select, TextArea, TextField } from '../../design/field.tsx';
import { Sample } from './sample.tsx';

/** Fields of each kind: empty, with a hint, with an error, and disabled. */
export function Fields(): ReactNode {
  return (
    <Sample name="TextField, TextArea, Select, Checkbox">
      <div className="fields">
        <TextField label="TextField" />
        <TextField label="TextField with a hint" hint="A hint" defaultValue="A value" />
        <TextField label="TextField with an error" error="What is wrong" defaultValue="A value" />
        <TextField label="TextField, disabled" disabled defaultValue="A value" />
        <TextField label="TextField of a day" type="date" defaultValue="2026-07-01" />
        <Select label="Select" defaultValue="two">
          <option value="one">One</option>
          <option value="two">Two</option>
        </Select>
        <TextArea label="TextArea" hint="At most 500 characters" />
      </div>
      <Checkbox label="Checkbox" hint="A hint" defaultChecked />
      <Checkbox label="Checkbox, disabled" disabled />
    </Sample>
  );
}
