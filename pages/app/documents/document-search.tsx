import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { useText } from '../../texts/text.tsx';

/** The one field that documents are found by. */
export function DocumentSearch({ label, onSearch }: { label: string; onSearch: (text: string) => void }): ReactNode {
  const t = useText();
  const [text, setText] = useState('');
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
