import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { CallError } from '../../data/call-error.ts';
import { FILE_FORMATS, fetchStatement } from '../../data/statement-file.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { Status } from '../../design/notice.tsx';
import { useRefusal } from '../../design/refusal.ts';
import { Failure } from '../../design/states.tsx';
import { save } from '../../frame/save.ts';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { lastMonth } from './statement-dialog.tsx';

interface DownloadProps {
  /** The number of the currency account. */
  accountId: number;
  /** The id of the text that tells this button from others with the same name. */
  describedBy?: string;
  /** Called when the browser has the file. */
  onSaved: (name: string) => void;
}

/** `Download statement`: makes a statement of an account as a file, and saves it. */
export function DownloadStatement({ accountId, describedBy, onSaved }: DownloadProps): ReactNode {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const finish = (name: string) => {
    setOpen(false);
    onSaved(name);
  };
  return (
    <>
      <Button {...(describedBy && { 'aria-describedby': describedBy })} onPress={() => setOpen(true)}>
        {t('accounts.download')}
      </Button>
      {isOpen && <DownloadDialog accountId={accountId} onBack={() => setOpen(false)} onSaved={finish} />}
    </>
  );
}

const FIELDS = { from: 'from_value_datetime', to: 'to_value_datetime' } as const;

function DownloadDialog({ accountId, onBack, onSaved }: DownloadProps & { onBack: () => void }): ReactNode {
  const t = useText();
  const say = useRefusal();
  const { client_id: clientId } = useClient();
  const form = useId();
  const [days, setDays] = useState(() => ({ from: lastMonth().date_from, to: lastMonth().date_to }));
  const [format, setFormat] = useState<(typeof FILE_FORMATS)[number]>('pdf');
  // A person who leaves the page no longer wants the file.
  const waiting = useRef(new AbortController());
  useEffect(() => {
    const { current } = waiting;
    return () => current.abort();
  }, []);
  const act = useAct(() => fetchStatement(clientId, { accountId, ...days, format }, waiting.current.signal));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (act.isPending) return;
    act.mutate(undefined, {
      onSuccess: (file) => {
        save(file);
        onSaved(file.name);
      },
    });
  };
  const faults = act.error instanceof CallError ? act.error.faults : new Map();
  const fault = (name: keyof typeof FIELDS) => {
    const { code, message } = faults.get(FIELDS[name]) ?? {};
    if (code === undefined) return undefined;
    if (code === 'required') return t('fault.required');
    return days.to !== '' && days.to < days.from ? t('accounts.download.order') : say({ code, details: message });
  };
  return (
    <Dialog
      title={t('accounts.download')}
      isOpen
      onBack={onBack}
      action={
        <Button kind="primary" type="submit" form={form} isPending={act.isPending}>
          {t('accounts.download.act')}
        </Button>
      }
    >
      <form id={form} className="fields" onSubmit={submit} noValidate>
        {(['from', 'to'] as const).map((name) => (
          <TextField
            key={name}
            label={t(`accounts.date_${name}`)}
            name={FIELDS[name]}
            type="date"
            required={name === 'from'}
            value={days[name]}
            error={fault(name)}
            onChange={({ target }) => setDays({ ...days, [name]: target.value })}
          />
        ))}
        <Select
          label={t('accounts.format')}
          name="format"
          value={format}
          onChange={({ target }) => setFormat(target.value as typeof format)}
        >
          {FILE_FORMATS.map((each) => (
            <option key={each} value={each}>
              {FORMAT_NAMES[each]}
            </option>
          ))}
        </Select>
      </form>
      <Status tone="info">{act.isPending && t('accounts.download.pending')}</Status>
      {act.error && !fault('from') && !fault('to') && <Failure error={act.error} />}
    </Dialog>
  );
}

const FORMAT_NAMES: Record<(typeof FILE_FORMATS)[number], string> = { pdf: 'PDF', csv: 'CSV', camt053: 'camt.053' };
