import type { ReactNode } from 'react';
import { useText } from '../texts/text.tsx';
import { ChartTable } from './chart-table.tsx';
import './chart.css';

/** A point: where it is drawn, and what it says. */
export interface Point {
  label: string;
  /** Only for drawing. */
  height: number;
  /** The exact value. */
  value: string;
}

const WIDTH = 300;
const HEIGHT = 100;

/** A value over time, as a line from zero and as a table. The figures are the texts; numbers only place the line. */
export function LineChart({
  name,
  points,
  columns,
}: {
  name: string;
  points: Point[];
  columns: [string, string];
}): ReactNode {
  const t = useText();
  const heights = points.map(({ height }) => height);
  const [least, most] = [Math.min(0, ...heights), Math.max(0, ...heights)];
  const span = most - least || 1;
  const y = (height: number) => HEIGHT - ((height - least) / span) * HEIGHT;
  const step = WIDTH / Math.max(1, points.length - 1);
  const line = points.map(({ height }, index) => `${index === 0 ? 'M' : 'L'}${index * step} ${y(height)}`).join('');
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={name}>
        <path className="chart-area" d={`${line}L${WIDTH} ${y(0)}L0 ${y(0)}Z`} />
        <line className="chart-base" x1={0} x2={WIDTH} y1={y(0)} y2={y(0)} />
        <path className="chart-line" d={line} />
      </svg>
      <div className="chart-ends" aria-hidden="true">
        <span>{points[0]?.label}</span>
        <span>{points.at(-1)?.label}</span>
      </div>
      <ChartTable
        name={t('design.chart.table')}
        columns={columns}
        rows={points.map(({ label, value }) => [label, value])}
      />
    </figure>
  );
}
