import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { call } from '../../data/call.ts';
import { refreshSession, useSession } from '../../data/session.ts';
import { Checkbox, Select } from '../../design/field.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure } from '../../design/states.tsx';
import { LANGUAGE_NAMES } from '../../frame/frame.tsx';
import { LANGUAGES, useText } from '../../texts/text.tsx';

interface Change {
  language?: string | null;
  approval_mails?: boolean;
}

/** The person's language and mails. Each choice is saved at once. */
export function Preferences(): ReactNode {
  const t = useText();
  const { language, approval_mails } = useSession();
  // Also kept here: the mutation reports a moment after the click, and the box would jump back meanwhile.
  const [wanted, setWanted] = useState<boolean>();
  const save = useMutation({
    mutationFn: (body: Change) => call('PATCH', '/app/profile', { body }),
    onSuccess: async (_, { language: chosen }) => {
      // The service writes the document in the person's language.
      if (chosen !== undefined) location.reload();
      else await refreshSession();
    },
    onSettled: () => setWanted(undefined),
  });
  return (
    <section className="card stack" aria-label={t('profile.preferences')}>
      <h2>{t('profile.preferences')}</h2>
      <div className="fields">
        <Select
          label={t('frame.language')}
          hint={t('profile.language.hint')}
          value={language ?? ''}
          disabled={save.isPending}
          onChange={({ target }) => save.mutate({ language: target.value || null })}
        >
          <option value="">{t('profile.language.browser')}</option>
          {LANGUAGES.map((each) => (
            <option key={each} value={each} lang={each}>
              {LANGUAGE_NAMES[each]}
            </option>
          ))}
        </Select>
      </div>
      <Checkbox
        label={t('profile.mails')}
        hint={t('profile.mails.hint')}
        checked={wanted ?? approval_mails}
        onChange={({ target }) => {
          setWanted(target.checked);
          save.mutate({ approval_mails: target.checked });
        }}
      />
      <Status>{save.isSuccess ? t('profile.saved') : undefined}</Status>
      {save.isError && <Failure error={save.error} />}
    </section>
  );
}
