import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { type ApprovalConfiguration, dryRunQuery, type Person, settingsKey } from '../../data/approval-settings.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { draftOf, written } from './draft.ts';
import { GroupFields } from './group-fields.tsx';
import { RuleFields } from './rule-fields.tsx';
import { Samples } from './samples.tsx';
import { SaveDialog } from './save-dialog.tsx';

/** How long typing must pause before the service is asked what the form would mean. */
const PAUSE_MS = 500;

interface ConfigurationFormProps {
  /** The version of the configuration. */
  version: number;
  configuration: ApprovalConfiguration;
  people: Person[];
  mayManage: boolean;
  onDone: (text: string) => void;
}

/** Groups and rules as a form. Before anything is saved, it shows who would have to approve sample amounts. */
export function ConfigurationForm(props: ConfigurationFormProps): ReactNode {
  const { version, configuration, people, mayManage, onDone } = props;
  const t = useText();
  const { client_id: clientId } = useClient();
  const [draft, setDraft] = useState(() => draftOf(configuration));
  const [amounts, setAmounts] = useState('');
  const [isSaving, setSaving] = useState(false);
  const asked = useSettled(written(draft, amounts.split(/[;\s]+/).filter(Boolean)));
  const queries = useQueryClient();
  const run = useQuery({ ...dryRunQuery(clientId, asked), enabled: mayManage });
  /** Until a rule is saved or begun, the client's workflow decides. */
  const isEyes = configuration.ruleset === null && draft.rules.length === 0;
  const isChanged = JSON.stringify(draft) !== JSON.stringify(draftOf(configuration));
  return (
    <>
      <fieldset className="plain-fieldset stack" disabled={!mayManage}>
        <legend className="visually-hidden">{t('settings.configuration')}</legend>
        <GroupFields draft={draft} people={people} onChange={setDraft} />
        <RuleFields draft={draft} onChange={setDraft} />
      </fieldset>
      {mayManage && (
        <section className="card stack" aria-label={t('settings.samples')}>
          <h2>{t('settings.samples')}</h2>
          <p className="quiet">{t('settings.samples.text')}</p>
          <TextField
            label={t('settings.amounts')}
            name="sample_amounts"
            autoComplete="off"
            inputMode="decimal"
            hint={t('settings.amounts.hint', { currency: draft.currency })}
            value={amounts}
            onChange={({ target }) => setAmounts(target.value)}
          />
          {isEyes ? (
            <p className="quiet">{t('settings.samples.eyes')}</p>
          ) : run.error ? (
            <Failure error={run.error} />
          ) : (
            run.data && <Samples run={run.data} people={people} />
          )}
          <div className="row">
            <Button kind="primary" isDisabled={!isChanged} onPress={() => setSaving(true)}>
              {t('settings.save')}
            </Button>
            {isChanged && (
              <Button
                onPress={() => {
                  setDraft(draftOf(configuration));
                  void queries.invalidateQueries({ queryKey: settingsKey(clientId) });
                }}
              >
                {t('settings.undo')}
              </Button>
            )}
          </div>
        </section>
      )}
      {isSaving && (
        <SaveDialog
          draft={draft}
          version={version}
          run={run}
          people={people}
          onBack={() => setSaving(false)}
          onDone={() => {
            setSaving(false);
            onDone(t('settings.saved'));
          }}
        />
      )}
    </>
  );
}

/** A value, once it has not changed for a moment. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  const text = JSON.stringify(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is the value
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
