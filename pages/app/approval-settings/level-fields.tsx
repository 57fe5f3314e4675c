import type { ReactNode } from 'react';
import { Button } from '../../design/button.tsx';
import { Select } from '../../design/field.tsx';
import { isolated } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';
import { replaced, without } from './draft.ts';

/** docs/approvals.md, Limits. */
const MAX_ALTERNATIVES = 5;
const MAX_PEOPLE = 5;

interface LevelFieldsProps {
  /** The ways to meet the level: each needs one person from every listed group. */
  alternatives: string[][];
  /** Counted from 1. */
  place: { rule: number; level: number };
  /** The names of all groups. */
  names: string[];
  onChange: (alternatives: string[][]) => void;
  onRemove: (() => void) | undefined;
}

/** A level of a rule: one of its alternatives must approve. */
export function LevelFields({ alternatives, place, names, onChange, onRemove }: LevelFieldsProps): ReactNode {
  const t = useText();
  const title = t('settings.level', place);
  return (
    <fieldset className="plain-fieldset level">
      <legend>{title}</legend>
      {alternatives.map((people, index) => (
        <div
          className="row end-aligned"
          // biome-ignore lint/suspicious/noArrayIndexKey: an alternative is its place in the level
          key={index}
        >
          {index > 0 && <span>{t('settings.or')}</span>}
          {people.map((name, at) => (
            <Select
              // biome-ignore lint/suspicious/noArrayIndexKey: so is a person in the alternative
              key={at}
              label={t('settings.oneOf', { ...place, way: index + 1, person: at + 1 })}
              value={name}
              onChange={({ target }) => onChange(replaced(alternatives, index, replaced(people, at, target.value)))}
            >
              {!names.includes(name) && <option value={name}>{t('settings.choose')}</option>}
              {names.map((each) => (
                <option key={each} value={each}>
                  {isolated(each)}
                </option>
              ))}
            </Select>
          ))}
          {people.length < MAX_PEOPLE && (
            <Button
              kind="quiet"
              aria-label={`${t('settings.and')}: ${title}, ${index + 1}`}
              onPress={() => onChange(replaced(alternatives, index, [...people, names[0] ?? '']))}
            >
              {t('settings.and')}
            </Button>
          )}
          {(people.length > 1 || alternatives.length > 1) && (
            <Button
              kind="quiet"
              aria-label={`${t('settings.fewer')}: ${title}, ${index + 1}`}
              onPress={() =>
                onChange(
                  people.length > 1 ? replaced(alternatives, index, people.slice(0, -1)) : without(alternatives, index),
                )
              }
            >
              {t('settings.fewer')}
            </Button>
          )}
        </div>
      ))}
      <div className="row">
        {alternatives.length < MAX_ALTERNATIVES && (
          <Button
            kind="quiet"
            aria-label={`${t('settings.alternative')}: ${title}`}
            onPress={() => onChange([...alternatives, [names[0] ?? '']])}
          >
            {t('settings.alternative')}
          </Button>
        )}
        {onRemove && (
          <Button kind="quiet" aria-label={`${t('settings.remove')}: ${title}`} onPress={onRemove}>
            {t('settings.remove')}
          </Button>
        )}
      </div>
    </fieldset>
  );
}
