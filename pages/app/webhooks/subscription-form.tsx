import type { UseMutationResult } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Checkbox, TextField } from '../../design/field.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import type { ExtraHeader, Subscription, SubscriptionFields } from './subscriptions.ts';

/** docs/webhooks.md. */
const MAX_EXTRA_HEADERS = 5;

interface SubscriptionFormProps<Result> {
  title: string;
  /** The name of the last button. */
  action: string;
  types: string[];
  /** The subscription to change; without it, a new one is made. */
  subscription?: Subscription;
  act: UseMutationResult<Result, Error, SubscriptionFields>;
  onBack: () => void;
  onDone: (result: Result) => void;
}

/** The form of a subscription: its address, its types, and its headers. */
export function SubscriptionForm<Result>(props: SubscriptionFormProps<Result>): ReactNode {
  const { title, action, types, subscription, act, onBack, onDone } = props;
  const t = useText();
  const form = useId();
  const [url, setUrl] = useState(subscription?.url ?? '');
  const [chosen, setChosen] = useState(new Set(subscription?.types));
  const [active, setActive] = useState(subscription?.active ?? true);
  const [headers, setHeaders] = useState(subscription?.extraHeaders ?? []);
  const [isTried, setTried] = useState(false);
  const isStream = subscription?.delivery === 'STREAM';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (url.trim() === '' && !isStream) return;
    const fields = {
      types: types.filter((type) => chosen.has(type)),
      active,
      extraHeaders: headers.filter(({ name }) => name !== ''),
    };
    act.mutate({ ...fields, ...(isStream ? {} : { url: url.trim() }) } as SubscriptionFields, { onSuccess: onDone });
  };
  return (
    <Dialog
      title={title}
      isOpen
      onBack={onBack}
      action={
        <Button kind="primary" type="submit" form={form} isPending={act.isPending}>
          {action}
        </Button>
      }
    >
      <form id={form} className="stack" onSubmit={submit} noValidate>
        {!isStream && (
          <TextField
            label={t('webhooks.url')}
            name="url"
            type="url"
            inputMode="url"
            autoComplete="off"
            required
            maxLength={2048}
            value={url}
            hint={t('webhooks.url.hint')}
            error={isTried && url.trim() === '' ? t('webhooks.url.missing') : undefined}
            onChange={({ target }) => setUrl(target.value)}
          />
        )}
        <Types types={types} chosen={chosen} onChange={setChosen} />
        <Checkbox
          label={t('webhooks.active')}
          name="active"
          hint={t('webhooks.active.hint')}
          checked={active}
          onChange={({ target }) => setActive(target.checked)}
        />
        <ExtraHeaders headers={headers} onChange={setHeaders} />
      </form>
      {act.error && <Failure error={act.error} />}
    </Dialog>
  );
}

function Types({
  types,
  chosen,
  onChange,
}: {
  types: string[];
  chosen: Set<string>;
  onChange: (chosen: Set<string>) => void;
}): ReactNode {
  const t = useText();
  const toggle = (type: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(type);
    else next.delete(type);
    onChange(next);
  };
  return (
    <fieldset className="choices">
      <legend>{t('webhooks.types')}</legend>
      {types.map((type) => (
        <Checkbox
          key={type}
          label={type}
          name="types"
          value={type}
          checked={chosen.has(type)}
          onChange={({ target }) => toggle(type, target.checked)}
        />
      ))}
    </fieldset>
  );
}

function ExtraHeaders({
  headers,
  onChange,
}: {
  headers: ExtraHeader[];
  onChange: (headers: ExtraHeader[]) => void;
}): ReactNode {
  const t = useText();
  const set = (index: number, part: Partial<ExtraHeader>) =>
    onChange(headers.map((header, at) => (at === index ? { ...header, ...part } : header)));
  return (
    <fieldset className="choices">
      <legend>{t('webhooks.headers')}</legend>
      {headers.map(({ name, value }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a header is its place in the form
        <div className="fields" key={index}>
          <TextField
            label={t('webhooks.header.name', { number: index + 1 })}
            value={name}
            maxLength={128}
            placeholder="x-"
            autoComplete="off"
            onChange={({ target }) => set(index, { name: target.value })}
          />
          <TextField
            label={t('webhooks.header.value', { number: index + 1 })}
            value={value}
            maxLength={256}
            autoComplete="off"
            onChange={({ target }) => set(index, { value: target.value })}
          />
        </div>
      ))}
      <div className="row">
        {headers.length < MAX_EXTRA_HEADERS && (
          <Button kind="quiet" onPress={() => onChange([...headers, { name: '', value: '' }])}>
            {t('webhooks.header.add')}
          </Button>
        )}
        {headers.length > 0 && (
          <Button kind="quiet" onPress={() => onChange(headers.slice(0, -1))}>
            {t('webhooks.header.remove')}
          </Button>
        )}
      </div>
    </fieldset>
  );
}
