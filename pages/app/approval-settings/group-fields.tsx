import type { ReactNode } from 'react';
import type { Person } from '../../data/approval-settings.ts';
import { Button } from '../../design/button.tsx';
import { Checkbox, TextField } from '../../design/field.tsx';
import { isolated } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';
import { type Draft, type DraftGroup, NEW_GROUP, renamed, replaced, without } from './draft.ts';

interface GroupFieldsProps {
  draft: Draft;
  people: Person[];
  onChange: (draft: Draft) => void;
}

/** The groups of people that rules refer to. */
export function GroupFields({ draft, people, onChange }: GroupFieldsProps): ReactNode {
  const t = useText();
  const { groups } = draft;
  return (
    <section className="card stack" aria-label={t('settings.groups')}>
      <h2>{t('settings.groups')}</h2>
      {groups.length === 0 && <p className="quiet">{t('settings.groups.none')}</p>}
      {groups.map((group, index) => (
        <fieldset
          className="plain-fieldset group"
          // biome-ignore lint/suspicious/noArrayIndexKey: a group is its place in the form
          key={index}
        >
          <legend className="visually-hidden">{t('settings.group', { number: index + 1 })}</legend>
          <div className="row end-aligned">
            <TextField
              label={t('settings.group.name', { number: index + 1 })}
              maxLength={64}
              autoComplete="off"
              value={group.name}
              onChange={({ target }) => onChange(renamed(draft, index, target.value))}
            />
            <Button
              kind="quiet"
              aria-label={t('settings.group.remove', { number: index + 1 })}
              onPress={() => onChange({ ...draft, groups: without(groups, index) })}
            >
              {t('settings.remove')}
            </Button>
          </div>
          <People
            group={group}
            people={people}
            onChange={(users) => onChange({ ...draft, groups: replaced(groups, index, { ...group, users }) })}
          />
        </fieldset>
      ))}
      <div className="row">
        <Button onPress={() => onChange({ ...draft, groups: [...groups, NEW_GROUP] })}>
          {t('settings.group.add')}
        </Button>
      </div>
    </section>
  );
}

function People({
  group: { users },
  people,
  onChange,
}: {
  group: DraftGroup;
  people: Person[];
  onChange: (users: string[]) => void;
}): ReactNode {
  const t = useText();
  return (
    <div className="people">
      {people.map(({ id, name, email, may_authorise: counts }) => (
        <Checkbox
          key={id}
          label={isolated(name)}
          hint={counts ? isolated(email) : t('settings.person.cannot')}
          checked={users.includes(id)}
          onChange={({ target }) => onChange(target.checked ? [...users, id] : users.filter((each) => each !== id))}
        />
      ))}
    </div>
  );
}
