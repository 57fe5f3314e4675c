import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { useText } from '../../texts/text.tsx';

interface DocumentSearchProps {
  label: string;
  /** The previous search. */
  initial?: string;
  onSearch: (text: string) => void;
}

/** The single search field for documents. */
export function DocumentSearch({ label, initial = '', onSearch }: DocumentSearchProps): ReactNode {
  const t = useText();
  const [text, setText] = useState(initial);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSearch(text.trim());
  };
  return (
    <search>
      <form className="document-search" onSubmit={submit}>
        <TextField
          label={label}
          name="text"
          type="search"
          maxLength={500}
          autoComplete="off"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button kind="primary" type="submit">
          {t('documents.search')}
        </Button>
      </form>
    </search>
  );
}
