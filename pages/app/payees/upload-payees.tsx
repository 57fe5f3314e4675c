import { type ReactNode, useRef, useState } from 'react';
import { PAYEE_COLUMNS, sendPayees } from '../../data/payee-files.ts';
import { Button } from '../../design/button.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';

/** A file that was sent. */
export interface SentFile {
  /** The id of the upload that it becomes. */
  id: string;
  name: string;
  /** True for a CSV file, whose places are lines and whose header is line 1. */
  hasLines: boolean;
}

interface UploadPayeesProps {
  onSent: (file: SentFile) => void;
  onError: (error: Error | undefined) => void;
}

/** `Upload payees` sends a file once it is chosen. `Template` is a file without payees. */
export function UploadPayees({ onSent, onError }: UploadPayeesProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const input = useRef<HTMLInputElement>(null);
  const [template] = useState(templateAddress);
  const act = useAct((file: File) => sendPayees(clientId, file));
  const send = (file: File) => {
    onError(undefined);
    act.mutate(file, {
      onSuccess: (id) => onSent({ id, name: file.name, hasLines: !/\.json$/i.test(file.name) }),
      onError,
    });
  };
  return (
    <>
      <a href={template} download="payees.csv">
        {t('payees.template')}
      </a>
      <Button isPending={act.isPending} onPress={() => input.current?.click()}>
        {t('payees.upload')}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t('payees.upload')}
        accept=".csv,.json,text/csv,application/json"
        onChange={({ target }) => {
          const file = target.files?.[0];
          // Lets the person choose the same file again after correcting it.
          target.value = '';
          if (file) send(file);
        }}
      />
    </>
  );
}

let made: string | undefined;

/** The address of the template, valid as long as the document. */
function templateAddress(): string {
  made ??= URL.createObjectURL(new Blob([`${PAYEE_COLUMNS.join(',')}\r\n`], { type: 'text/csv' }));
  return made;
}
