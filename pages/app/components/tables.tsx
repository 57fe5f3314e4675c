import { type ReactNode, useState } from 'react';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Checkbox } from '../../design/field.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Money } from '../../design/money.tsx';
import { SteadyTable } from '../../design/steady-table.tsx';
import { type Sort, Table } from '../../design/table.tsx';
import { Sample } from './sample.tsx';

const ROWS = [
  { id: 'PAY000001', payee: 'Müller & Söhne GmbH', amount: '1200.5', state: 'good' },
  { id: 'PAY000002', payee: 'שלום בע״מ', amount: '98765432.1', state: 'warn' },
  { id: 'PAY000003', payee: 'A payee whose name is so long that it needs a second line', amount: '0.07', state: 'bad' },
] as const;

/** A table that sorts. In a narrow window its rows become cards. */
export function Tables(): ReactNode {
  const [sort, setSort] = useState<Sort>({ key: 'id', descending: false });
  const rows = sort.descending ? [...ROWS].reverse() : ROWS;
  return (
    <Sample name="Table">
      <Table
        name="Table"
        rows={rows}
        rowKey={({ id }) => id}
        sort={sort}
        onSort={setSort}
        columns={[
          { key: 'id', title: 'Payment', sortable: true, cell: ({ id }) => id },
          { key: 'payee', title: 'Payee', cell: ({ payee }) => <ForeignText>{payee}</ForeignText> },
          { key: 'state', title: 'State', cell: ({ state }) => <Badge tone={state}>{state}</Badge> },
          {
            key: 'amount',
            title: 'Amount',
            numeric: true,
            cell: ({ amount }) => <Money amount={amount} currency="EUR" />,
          },
        ]}
      />
    </Sample>
  );
}

/** A table that others change. While it is held, rows that leave keep their places. */
export function SteadyTables(): ReactNode {
  const [isHeld, hold] = useState(true);
  const [isShort, setShort] = useState(false);
  return (
    <Sample name="SteadyTable">
      <div className="row">
        <Checkbox label="Held" checked={isHeld} onChange={({ target }) => hold(target.checked)} />
        <Button onPress={() => setShort(!isShort)}>{isShort ? 'A row comes' : 'A row leaves'}</Button>
      </div>
      <SteadyTable
        name="SteadyTable"
        scope="rows"
        isHeld={isHeld}
        rows={isShort ? ROWS.slice(1) : ROWS}
        rowKey={({ id }) => id}
        columns={[
          { key: 'id', title: 'Payment', cell: ({ row: { id } }) => id },
          {
            key: 'state',
            title: 'State',
            cell: ({ row, isGone }) => (
              <Badge tone={isGone ? 'neutral' : row.state}>{isGone ? 'gone' : row.state}</Badge>
            ),
          },
        ]}
      />
    </Sample>
  );
}
