import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useDeferredValue, useState } from 'react';
import {
  type BulkOutcome,
  homeQuery,
  LIST_SIZE,
  type Listed,
  type Page,
  type Payment,
  type RecentActivity,
  waitingQuery,
} from '../../data/payments.ts';
import { sumsOf } from '../../data/sums.ts';
import { Button } from '../../design/button.tsx';
import { Checkbox } from '../../design/field.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import type { SteadyRow } from '../../design/steady-rows.ts';
import { SteadyTable } from '../../design/steady-table.tsx';
import type { Column } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { lastPage, Pager } from '../pager.tsx';
import { ActivityText, DECIDED } from '../payments/activity.tsx';
import { BulkDialog } from './bulk-dialog.tsx';
import { BulkResult } from './bulk-result.tsx';
import { useMarksColumn, useWaitingColumns } from './columns.tsx';
import { NothingWaits } from './nothing-waits.tsx';
import { Sums } from './sums.tsx';
import './approvals.css';

type Row = SteadyRow<Listed>;
const idOf = ({ payment }: Listed) => payment.payment_id;

/** What the person may approve now: one by one, or several at once where the client asks for no code. */
export function WaitingForMe(): ReactNode {
  const { client_id: clientId, approval_step_up: stepUp } = useClient();
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useQuery(waitingQuery(clientId, 'your', page));
  const { data: home } = useQuery(homeQuery(clientId));
  const [selected, select] = useState<ReadonlyMap<string, Payment>>(new Map());
  const [outcome, setOutcome] = useState<BulkOutcome>();
  // The rows are drawn in slices when they come: a slow phone scrolls in between. What changes in them later is drawn at once.
  const isDrawn = useDeferredValue(data !== undefined);
  if (!data || !isDrawn) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={6} />;
  const toggle = (payment: Payment, isOn: boolean) => {
    const next = new Map(selected);
    if (isOn && next.size < LIST_SIZE) next.set(payment.payment_id, payment);
    if (!isOn) next.delete(payment.payment_id);
    select(next);
  };
  const open = data.rows.map(({ payment }) => payment);
  return (
    <div className="stack">
      <BulkResult outcome={outcome} />
      {data.total === 0 && selected.size === 0 ? (
        <NothingWaits activity={home?.activity ?? []} />
      ) : (
        <>
          {!stepUp && (
            <Selection
              open={open}
              selected={selected}
              onSelect={select}
              onDone={(done) => {
                setOutcome(done);
                select(new Map());
              }}
            />
          )}
          <div className="card">
            <WaitingTable
              page={data}
              activity={home?.activity ?? []}
              selected={stepUp ? undefined : selected}
              onToggle={toggle}
              onEmpty={() => setPage(lastPage(data.total, LIST_SIZE))}
            />
          </div>
        </>
      )}
      <Pager page={page} size={LIST_SIZE} total={data.total} onPage={setPage} />
    </div>
  );
}

interface WaitingTableProps {
  page: Page<Listed>;
  activity: RecentActivity[];
  /** undefined: nothing can be selected. */
  selected: ReadonlyMap<string, Payment> | undefined;
  onToggle: (payment: Payment, isOn: boolean) => void;
  onEmpty: () => void;
}

function WaitingTable({ page, activity, selected, onToggle, onEmpty }: WaitingTableProps): ReactNode {
  const t = useText();
  const columns = useWaitingColumns<Row>(({ row }) => row.payment);
  const marks = useMarksColumn<Row>(({ row }) => row);
  const choice: Column<Row> = {
    key: 'select',
    title: t('approvals.select'),
    cell: ({ row: { payment }, isGone }) => (
      // What is gone cannot be selected any more; its place stays as high as it was.
      <label className={isGone && !selected?.has(payment.payment_id) ? 'choice gone-choice' : 'choice'}>
        <input
          type="checkbox"
          aria-label={t('approvals.selectOne', { id: payment.payment_id })}
          checked={selected?.has(payment.payment_id) ?? false}
          onChange={({ target }) => onToggle(payment, target.checked)}
        />
      </label>
    ),
  };
  const state: Column<Row> = {
    ...marks,
    cell: (row) =>
      row.isGone ? (
        <div className="gone">
          <div className="gone-before">{marks.cell(row)}</div>
          <Gone activity={activity} id={idOf(row.row)} />
        </div>
      ) : (
        marks.cell(row)
      ),
  };
  return (
    <SteadyTable
      name={t('approvals.table')}
      className="payment-cards"
      columns={[...(selected ? [choice] : []), ...columns, state]}
      rows={page.rows}
      rowKey={idOf}
      scope={page.page}
      isHeld={selected !== undefined && selected.size > 0}
      onEmpty={onEmpty}
    />
  );
}

/** What became of a payment that waited a moment ago. */
function Gone({ activity, id }: { activity: RecentActivity[]; id: string }): ReactNode {
  const t = useText();
  const decided = activity.find(({ payment_id, what }) => payment_id === id && DECIDED.has(what));
  return <span className="gone-now small">{decided ? <ActivityText entry={decided} /> : t('approvals.gone')}</span>;
}

interface SelectionProps {
  open: Payment[];
  selected: ReadonlyMap<string, Payment>;
  onSelect: (selected: ReadonlyMap<string, Payment>) => void;
  onDone: (outcome: BulkOutcome) => void;
}

/** What is selected, what it comes to, and the button that approves it. It keeps its height, so that nothing below it moves. */
function Selection({ open, selected, onSelect, onDone }: SelectionProps): ReactNode {
  const t = useText();
  const [asked, ask] = useState<Payment[]>();
  const all = open.length > 0 && open.every(({ payment_id: id }) => selected.has(id));
  return (
    <div className="selection">
      <Checkbox
        label={t('approvals.selectAll')}
        checked={all}
        onChange={({ target }) =>
          onSelect(
            new Map(target.checked ? open.slice(0, LIST_SIZE).map((payment) => [payment.payment_id, payment]) : []),
          )
        }
      />
      <p className="selection-sums">
        {t('approvals.selected', { count: selected.size })} <Sums sums={sumsOf([...selected.values()])} />
        {selected.size === LIST_SIZE && t('approvals.most', { count: LIST_SIZE })}
      </p>
      <Button kind="primary" isDisabled={selected.size === 0} onPress={() => ask([...selected.values()])}>
        {t('approvals.approveSelected')}
      </Button>
      {asked && (
        <BulkDialog
          payments={asked}
          onBack={() => ask(undefined)}
          onDone={(outcome) => {
            ask(undefined);
            onDone(outcome);
          }}
        />
      )}
    </div>
  );
}
