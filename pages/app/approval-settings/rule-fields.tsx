import type { ReactNode } from 'react';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { useText } from '../../texts/text.tsx';
import { type Draft, type DraftRule, replaced, without } from './draft.ts';
import { LevelFields } from './level-fields.tsx';

/** docs/approvals.md, Limits. */
const MAX_LEVELS = 5;

/** Which levels must approve, from which amount. */
export function RuleFields({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }): ReactNode {
  const t = useText();
  const { rules, currency, groups } = draft;
  const first = groups[0]?.name ?? '';
  const names = groups.map(({ name }) => name);
  return (
    <section className="card stack" aria-label={t('settings.rules')}>
      <h2>{t('settings.rules')}</h2>
      <p className="quiet">{t('settings.rules.text')}</p>
      <div className="fields">
        <TextField
          label={t('settings.currency')}
          name="currency"
          maxLength={3}
          autoComplete="off"
          value={currency}
          onChange={({ target }) => onChange({ ...draft, currency: target.value.toUpperCase() })}
        />
      </div>
      {rules.map((rule, index) => (
        <OneRule
          // biome-ignore lint/suspicious/noArrayIndexKey: a rule is its place in the form
          key={index}
          rule={rule}
          number={index + 1}
          currency={currency}
          names={names}
          onChange={(next) => onChange({ ...draft, rules: replaced(rules, index, next) })}
          onRemove={() => onChange({ ...draft, rules: without(rules, index) })}
        />
      ))}
      <div className="row">
        <Button
          isDisabled={groups.length === 0}
          onPress={() => onChange({ ...draft, rules: [...rules, { threshold: '0', levels: [[[first]]] }] })}
        >
          {t('settings.rule.add')}
        </Button>
      </div>
    </section>
  );
}

interface OneRuleProps {
  rule: DraftRule;
  number: number;
  currency: string;
  names: string[];
  onChange: (rule: DraftRule) => void;
  onRemove: () => void;
}

function OneRule({ rule, number, currency, names, onChange, onRemove }: OneRuleProps): ReactNode {
  const t = useText();
  const { threshold, levels } = rule;
  const set = (next: string[][][]) => onChange({ ...rule, levels: next });
  return (
    <fieldset className="plain-fieldset rule">
      <legend className="visually-hidden">{t('settings.rule', { number })}</legend>
      <div className="row end-aligned">
        <TextField
          label={t('settings.threshold', { number, currency })}
          inputMode="decimal"
          autoComplete="off"
          maxLength={40}
          value={threshold}
          onChange={({ target }) => onChange({ ...rule, threshold: target.value })}
        />
        <Button kind="quiet" aria-label={t('settings.rule.remove', { number })} onPress={onRemove}>
          {t('settings.remove')}
        </Button>
      </div>
      {levels.map((alternatives, index) => (
        <LevelFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a level is its place in the rule
          key={index}
          alternatives={alternatives}
          place={{ rule: number, level: index + 1 }}
          names={names}
          onChange={(next) => set(replaced(levels, index, next))}
          onRemove={levels.length > 1 ? () => set(without(levels, index)) : undefined}
        />
      ))}
      {levels.length < MAX_LEVELS && (
        <div className="row">
          <Button
            kind="quiet"
            aria-label={t('settings.level.add.to', { number })}
            onPress={() => set([...levels, [[names[0] ?? '']]])}
          >
            {t('settings.level.add')}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
