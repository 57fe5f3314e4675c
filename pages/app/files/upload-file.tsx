import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type DragEvent, type ReactNode, useState } from 'react';
import { CallError } from '../../data/call-error.ts';
import { filesKey, type Initiated, kindOf, type PaidFrom, sendFile, sendInitiation } from '../../data/files.ts';
import { sourcesQuery } from '../../data/ordering.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Alert, Status } from '../../design/notice.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { type Source, sourcesOf } from '../ordering/draft.ts';
import { SourceSelect } from '../ordering/source-select.tsx';
import { ReasonSelect } from '../reason-select.tsx';
import './upload-file.css';

/** Bytes at the start of a file that show its type. */
const HEAD_BYTES = 1_024;

/** Chooses what a file is paid from, and sends it as soon as it is selected or dropped. */
export function UploadFile(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { data, error, refetch } = useQuery(sourcesQuery(clientId));
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading rows={3} />;
  return (
    <section className="card stack" aria-label={t('files.send')}>
      <h2>{t('files.send')}</h2>
      <Upload sources={sourcesOf(data)} />
    </section>
  );
}

function Upload({ sources }: { sources: ReadonlyMap<string, Source> }): ReactNode {
  const t = useText();
  const [from, setFrom] = useState('');
  const [reason, setReason] = useState('');
  const upload = useUpload(sources.get(from), reason);
  const { faults, file, choose, sending } = upload;
  const drop = (event: DragEvent) => {
    event.preventDefault();
    choose(event.dataTransfer.files[0]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: mouse users get this in addition to the field
    <div className="stack drop-place" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <div className="fields">
        <SourceSelect sources={sources} value={from} error={faults.source} onChange={setFrom} />
        <ReasonSelect
          name="reason"
          label={t('order.reason')}
          value={reason}
          error={faults.reason}
          onChange={({ target }) => setReason(target.value)}
        />
        <TextField
          label={t('files.file')}
          name="file"
          type="file"
          accept=".csv,.json,.xml,text/csv,application/json,application/xml,text/xml"
          hint={t('files.file.hint')}
          onChange={({ target }) => {
            choose(target.files?.[0]);
            target.value = '';
          }}
        />
      </div>
      <Status tone={sending.isPending ? 'info' : 'warn'}>
        {sending.isPending && t('files.sending')}
        {!sending.isPending && upload.partial && <Refused of={upload.partial} />}
      </Status>
      {sending.error && <NotTaken error={sending.error} />}
      {file && !sending.isPending && (
        <div className="row">
          <span>
            <ForeignText>{file.name}</ForeignText>
          </span>
          <Button onPress={() => choose(file)}>{t('files.again')}</Button>
        </div>
      )}
    </div>
  );
}

/** The file that is selected but not accepted yet, and what is wrong with its source of funds. */
function useUpload(source: Source | undefined, reason: string) {
  const t = useText();
  const { client_id: clientId } = useClient();
  const navigate = useNavigate();
  const [file, setFile] = useState<File>();
  const [isAsked, setAsked] = useState(false);
  const [partial, setPartial] = useState<Initiated>();
  const sending = useAct((given: File) => send(clientId, given, paidFrom(source, reason)), [filesKey(clientId)]);
  const choose = async (chosen: File | undefined) => {
    if (!chosen || sending.isPending) return;
    setFile(chosen);
    setPartial(undefined);
    sending.reset();
    const needsSource = kindOf(await chosen.slice(0, HEAD_BYTES).text()) !== 'pain.001';
    setAsked(needsSource);
    if (needsSource && isMissing(source, reason)) return;
    sending.mutate(chosen, {
      onSuccess: (taken) => {
        setFile(undefined);
        const [only] = taken.ids;
        if (only !== undefined && taken.ids.length === 1 && taken.refused.length === 0)
          void navigate({ to: `/files/${encodeURIComponent(only)}` as never });
        else setPartial(taken);
      },
    });
  };
  const needed = isAsked && file ? t('fault.required') : undefined;
  return {
    ...{ file, partial, sending, choose: (chosen: File | undefined) => void choose(chosen) },
    faults: {
      source: source ? undefined : needed,
      reason: source?.kind === 'account' && reason === '' ? needed : undefined,
    },
  };
}

function isMissing(source: Source | undefined, reason: string): boolean {
  return !source || (source.kind === 'account' && reason === '');
}

function paidFrom(source: Source | undefined, reason: string): PaidFrom {
  const why = reason === '' ? {} : { reason };
  if (source?.kind === 'trade') return { trade_id: source.id, ...why };
  return source ? { sell_currency: source.currency, funding_account_id: Number(source.id), ...why } : {};
}

async function send(clientId: string, file: File, from: PaidFrom): Promise<Initiated> {
  const kind = kindOf(await file.slice(0, HEAD_BYTES).text());
  if (kind === 'pain.001') return sendInitiation(clientId, file);
  return { ids: [await sendFile(clientId, file, { kind, paidFrom: from })], refused: [] };
}

/** Blocks of a pain.001 file that were refused. */
function Refused({ of: { ids, refused } }: { of: Initiated }): ReactNode {
  const t = useText();
  return (
    <>
      <p>{t('files.blocks', { taken: ids.length, refused: refused.length })}</p>
      <Lines of={refused} />
    </>
  );
}

/** Why the whole file was refused. */
function NotTaken({ error }: { error: Error }): ReactNode {
  const t = useText();
  if (!(error instanceof CallError)) return <Alert>{t('files.unreadable')}</Alert>;
  if (error.code === 'already_exists') return <Alert>{t('files.twice')}</Alert>;
  if (error.code !== 'payment_initiation_refused') return <Failure error={error} />;
  return (
    <Alert>
      <p>
        <strong>{t('files.refused')}</strong>
      </p>
      <Lines of={error.details.split('\n')} />
    </Alert>
  );
}

function Lines({ of }: { of: readonly string[] }): ReactNode {
  return (
    <ul className="plain">
      {of.map((line) => (
        <li key={line}>
          <ForeignText>{line}</ForeignText>
        </li>
      ))}
    </ul>
  );
}
