import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { ApprovalDryRun, Person } from '../../data/approval-settings.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Money } from '../../design/money.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';

type Sample = ApprovalDryRun['samples'][number];

/** Who would have to approve payments of these amounts. */
export function Samples({ run, people }: { run: ApprovalDryRun; people: Person[] }): ReactNode {
  const t = useText();
  const names = new Map(people.map(({ id, name }) => [id, name]));
  if (!run.payment_approvals_enabled) return <p className="notice warn">{t('settings.samples.off')}</p>;
  if (run.samples.length === 0) return <p className="quiet">{t('settings.samples.none')}</p>;
  const levelsOf = ({ levels }: Sample) =>
    levels.map(({ one_of: ways }) => ways.map(({ all_of: all }) => all.join(' + ')).join(` ${t('settings.or')} `));
  return (
    <Table
      name={t('settings.samples')}
      columns={[
        {
          key: 'amount',
          title: t('settings.amount'),
          cell: (sample) => <Money amount={decimal(sample, 'amount')} currency={sample.currency} />,
        },
        {
          key: 'needed',
          title: t('settings.needed'),
          cell: ({ rule, minimum_authorisations: count }) =>
            rule === null ? t('settings.needed.none') : t('settings.needed.count', { count }),
        },
        {
          key: 'levels',
          title: t('settings.levels'),
          cell: (sample) => <ForeignText>{levelsOf(sample).join(' → ')}</ForeignText>,
        },
        {
          key: 'first',
          title: t('settings.first'),
          cell: ({ first_approvers: ids }) => (
            <ForeignText>{ids.map((id) => names.get(id) ?? id).join(', ')}</ForeignText>
          ),
        },
      ]}
      rows={run.samples}
      rowKey={(sample) => `${sample.amount} ${sample.currency} ${run.samples.indexOf(sample)}`}
    />
  );
}
