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
import { Icon } from '../../design/icon.tsx';
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
import { useWaitingColumns } from './columns.tsx';
import { DecideOne } from './decide-one.tsx';
import { KeysDialog } from './keys-dialog.tsx';
import { moveInList, useListKeys } from './list-keys.ts';
import { NothingWaits } from './nothing-waits.tsx';
import { Sums } from './sums.tsx';
import './approvals.css';

type Row = SteadyRow<Listed>;
const idOf = ({ payment }: Listed) => payment.payment_id;

/** What the open dialog is about: the selection, one payment, or the keyboard shortcuts. */
type Asked = { payments: Payment[] } | { id: string; action: 'authorise' | 'reject' } | 'keys';

/** The payments that the person may approve now, one by one or several at once, by mouse or keyboard. */
export function WaitingForMe(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useQuery(waitingQuery(clientId, 'your', page));
  const { data: home } = useQuery(homeQuery(clientId));
  const [selected, select] = useState<ReadonlyMap<string, Payment>>(new Map());
  const [outcome, setOutcome] = useState<BulkOutcome | string>();
  const [asked, ask] = useState<Asked>();
  // New rows are rendered in slices, so that a slow phone can scroll in between. Later changes are rendered at once.
  const isDrawn = useDeferredValue(data !== undefined);
  const rows = data?.rows ?? [];
  const toggle = (payment: Payment, isOn: boolean) => {
    const next = new Map(selected);
    if (isOn && next.size < LIST_SIZE) next.set(payment.payment_id, payment);
    if (!isOn) next.delete(payment.payment_id);
    select(next);
  };
  const waiting = (id: string | undefined) => rows.find((row) => idOf(row) === id)?.payment;
  const askOne = (id: string | undefined, action: 'authorise' | 'reject') => {
    if (waiting(id)?.approvals_workflow.contact_authorisation_actions.allowed.includes(action))
      ask({ id: id as string, action });
  };
  useListKeys({
    next: () => moveInList(1),
    previous: () => moveInList(-1),
    select: (id) => {
      const payment = waiting(id) ?? selected.get(id);
      if (payment) toggle(payment, !selected.has(id));
    },
    approve: (id) => (selected.size > 0 ? ask({ payments: [...selected.values()] }) : askOne(id, 'authorise')),
    reject: (id) => askOne(id, 'reject'),
    help: () => ask('keys'),
  });
  if (!data || !isDrawn) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={6} />;
  const finish = (result: BulkOutcome | string) => {
    ask(undefined);
    setOutcome(result);
    select(new Map());
  };
  return (
    <div className="stack">
      <BulkResult outcome={outcome} />
      {data.total === 0 && selected.size === 0 ? (
        <NothingWaits activity={home?.activity ?? []} />
      ) : (
        <>
          <Selection
            open={rows.map(({ payment }) => payment)}
            selected={selected}
            onSelect={select}
            onApprove={() => ask({ payments: [...selected.values()] })}
            onKeys={() => ask('keys')}
          />
          <div className="card approval-list">
            <WaitingTable
              page={data}
              activity={home?.activity ?? []}
              selected={selected}
              onToggle={toggle}
              onEmpty={() => setPage(lastPage(data.total, LIST_SIZE))}
            />
          </div>
        </>
      )}
      <Pager page={page} size={LIST_SIZE} total={data.total} onPage={setPage} />
      <AskedDialog
        asked={asked}
        onBack={() => ask(undefined)}
        onDecided={(id, action, remaining) => finish(`${id}: ${t(`payments.done.${action}`, { remaining })}`)}
        onApproved={finish}
      />
    </div>
  );
}

interface AskedDialogProps {
  asked: Asked | undefined;
  onBack: () => void;
  /** @param remaining approvals that are still needed */
  onDecided: (id: string, action: 'authorise' | 'reject', remaining: number) => void;
  onApproved: (outcome: BulkOutcome) => void;
}

function AskedDialog({ asked, onBack, onDecided, onApproved }: AskedDialogProps): ReactNode {
  if (asked === undefined) return null;
  if (asked === 'keys') return <KeysDialog onBack={onBack} />;
  if ('payments' in asked) return <BulkDialog payments={asked.payments} onBack={onBack} onDone={onApproved} />;
  const { id, action } = asked;
  return (
    <DecideOne
      id={id}
      action={action}
      onBack={onBack}
      onDone={({ explanation }) => onDecided(id, action, Math.max(0, explanation.minimum_remaining_authorisations - 1))}
    />
  );
}

interface WaitingTableProps {
  page: Page<Listed>;
  activity: RecentActivity[];
  selected: ReadonlyMap<string, Payment>;
  onToggle: (payment: Payment, isOn: boolean) => void;
  onEmpty: () => void;
}

function WaitingTable({ page, activity, selected, onToggle, onEmpty }: WaitingTableProps): ReactNode {
  const t = useText();
  const columns = useWaitingColumns<Row>(
    ({ row }) => row,
    ({ row, isGone }) => isGone && <Gone activity={activity} id={idOf(row)} />,
  );
  const choice: Column<Row> = {
    key: 'select',
    title: t('approvals.select'),
    cell: ({ row: { payment }, isGone }) => (
      // A row that is gone can no longer be selected; its place keeps its height.
      <label className={isGone && !selected.has(payment.payment_id) ? 'choice gone-choice' : 'choice'}>
        <input
          type="checkbox"
          aria-label={t('approvals.selectOne', { id: payment.payment_id })}
          checked={selected.has(payment.payment_id)}
          onChange={({ target }) => onToggle(payment, target.checked)}
        />
      </label>
    ),
  };
  return (
    <SteadyTable
      name={t('approvals.table')}
      className="payment-cards two-lines"
      columns={[choice, ...columns]}
      rows={page.rows}
      rowKey={idOf}
      scope={page.page}
      isHeld={selected.size > 0}
      onEmpty={onEmpty}
    />
  );
}

/** What became of a payment that was waiting a moment ago. */
function Gone({ activity, id }: { activity: RecentActivity[]; id: string }): ReactNode {
  const t = useText();
  const decided = activity.find(({ payment_id, what }) => payment_id === id && DECIDED.has(what));
  return decided ? <ActivityText entry={decided} /> : t('approvals.gone');
}

interface SelectionProps {
  open: Payment[];
  selected: ReadonlyMap<string, Payment>;
  onSelect: (selected: ReadonlyMap<string, Payment>) => void;
  onApprove: () => void;
  onKeys: () => void;
}

/** What is selected, its sums, and the button that approves it. It keeps its height, so that nothing below it moves. */
function Selection({ open, selected, onSelect, onApprove, onKeys }: SelectionProps): ReactNode {
  const t = useText();
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
      <Button kind="quiet" onPress={onKeys}>
        <Icon name="keyboard" />
        {t('approvals.keys')}
      </Button>
      <Button kind="primary" isDisabled={selected.size === 0} onPress={onApprove}>
        {t('approvals.approveSelected')}
      </Button>
    </div>
  );
}
