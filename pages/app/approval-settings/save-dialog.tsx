import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import {
  type ApprovalDryRun,
  latestVersionQuery,
  type Person,
  saveConfiguration,
  settingsKey,
} from '../../data/approval-settings.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Alert } from '../../design/notice.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { type Draft, written } from './draft.ts';
import { Samples } from './samples.tsx';

interface SaveDialogProps {
  draft: Draft;
  /** The version that the draft was made from. */
  version: number;
  /** What the draft would mean, once it is known. */
  run: { data: ApprovalDryRun | undefined; error: Error | null; isFetching: boolean };
  people: Person[];
  onBack: () => void;
  onDone: () => void;
}

/** Shows once more what the rules would mean before they are saved. It never silently replaces what somebody else has saved meanwhile. */
export function SaveDialog({ draft, version, run, people, onBack, onDone }: SaveDialogProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { data: latest, error } = useQuery(latestVersionQuery(clientId));
  const save = useAct(async () => {
    await saveConfiguration(clientId, written(draft));
    // This comes before the new version replaces the form.
    onDone();
  }, [settingsKey(clientId)]);
  const failure = run.error ?? error;
  return (
    <Dialog
      title={t('settings.save')}
      isOpen
      onBack={onBack}
      action={
        <Button
          kind="primary"
          isPending={save.isPending}
          isDisabled={failure !== null || run.isFetching || latest !== version}
          onPress={() => save.mutate()}
        >
          {t('settings.save')}
        </Button>
      }
    >
      <p>{t('settings.save.text')}</p>
      {latest !== undefined && latest !== version && <Alert>{t('settings.overtaken', { version: latest })}</Alert>}
      {failure ? <Failure error={failure} /> : run.data && <Samples run={run.data} people={people} />}
      {save.error && <Failure error={save.error} />}
    </Dialog>
  );
}
