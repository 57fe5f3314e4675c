import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react';
import { CallError } from '../../data/call-error.ts';
import { SESSION } from '../../data/queries.ts';
import { Button, type ButtonProps } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { type Fact, Facts } from '../../design/facts.tsx';
import { TextArea } from '../../design/field.tsx';
import { Alert } from '../../design/notice.tsx';
import { useText } from '../../texts/text.tsx';
import { type Scope, useMay } from '../staff.ts';
import { useKeptReason } from './kept-reason.tsx';
import { useSay } from './said.tsx';

/** Maximum characters of a reason in the operator interface. */
const MAX_REASON_LENGTH = 500;

/** What an act sends: headers that carry the reason, and the values that the person filled in. */
export interface Given {
  headers: Record<string, string>;
  reason: string;
  form: FormData;
}

export interface ActProps {
  /** The name of its button, of the dialog, and of the dialog's last button. */
  name: string;
  scope: Scope;
  kind?: ButtonProps['kind'];
  /** Facts about the record, which the dialog repeats. */
  facts: Fact[];
  /** Fields in addition to the reason. */
  fields?: ReactNode;
  /** @returns the message to show; undefined shows the usual one */
  act: (given: Given) => Promise<string | undefined>;
}

/** A button that asks for a reason before it acts. It is hidden from staff without the scope. */
export function Act(props: ActProps): ReactNode {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  if (!may(props.scope)) return null;
  return (
    <>
      <Button kind={props.kind ?? 'second'} onPress={() => setOpen(true)}>
        {props.name}
      </Button>
      {isOpen && <ActDialog {...props} onEnd={() => setOpen(false)} />}
    </>
  );
}

function ActDialog({ name, kind, facts, fields, act, onEnd }: ActProps & { onEnd: () => void }): ReactNode {
  const t = useText();
  const say = useSay();
  const queries = useQueryClient();
  const form = useId();
  const [missing, setMissing] = useState(false);
  const { reason: kept, keep } = useKeptReason();
  const reasonField = useRef<HTMLTextAreaElement>(null);
  const { mutate, error, isPending } = useMutation({
    mutationFn: act,
    onSuccess: async (said) => {
      onEnd();
      say(said ?? t('console.act.done', { act: name }));
      await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const filled = new FormData(event.currentTarget);
    const reason = String(filled.get('reason') ?? '').trim();
    setMissing(reason === '');
    if (reason === '') reasonField.current?.focus();
    if (reason !== '') keep(reason);
    if (reason !== '' && !isPending)
      mutate({ reason, form: filled, headers: { 'x-reason': encodeURIComponent(reason) } });
  };
  return (
    <Dialog
      title={name}
      isOpen
      onBack={onEnd}
      action={
        <Button
          kind={kind === 'danger' ? 'danger' : 'primary'}
          isPending={isPending}
          onPress={() => (document.getElementById(form) as HTMLFormElement).requestSubmit()}
        >
          {name}
        </Button>
      }
    >
      {facts.length > 0 && <Facts facts={facts} />}
      <form id={form} className="stack" onSubmit={submit} noValidate>
        {fields}
        <TextArea
          ref={reasonField}
          autoFocus={!fields}
          label={t('console.act.reason')}
          name="reason"
          defaultValue={kept}
          required
          maxLength={MAX_REASON_LENGTH}
          hint={t('console.act.reason.hint')}
          error={missing ? t('console.act.reason.missing') : undefined}
        />
      </form>
      {error && <Alert>{error instanceof CallError && error.details ? error.details : t('design.failed.text')}</Alert>}
    </Dialog>
  );
}
