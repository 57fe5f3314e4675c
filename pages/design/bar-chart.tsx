import type { ReactNode } from 'react';
import { useLocale, useText } from '../texts/text.tsx';
import { ChartTable } from './chart-table.tsx';
import { numberFormat } from './formats.ts';
import './chart.css';

/** One bar: what went well below, what failed on top of it. */
export interface Bar {
  label: string;
  good: number;
  bad: number;
}

interface BarChartProps {
  /** What it shows, in one sentence: it is read out in place of the bars. */
  name: string;
  bars: Bar[];
  good: string;
  bad: string;
  /** What a bar stands for, as the heading of the table. */
  unit: string;
}

/** Height of the drawing, in its own unit; a bar is 10 wide with its gap. */
const HEIGHT = 100;
const STEP = 10;
const GAP = 2;

/** Counts over time, as bars and as a table. */
export function BarChart({ name, bars, good, bad, unit }: BarChartProps): ReactNode {
  const t = useText();
  const most = Math.max(1, ...bars.map((bar) => bar.good + bar.bad));
  const format = numberFormat(useLocale(), {});
  const total = (kind: 'good' | 'bad') => format.format(bars.reduce((sum, bar) => sum + bar[kind], 0));
  const tall = (count: number) => (count / most) * HEIGHT;
  const width = bars.length * STEP;
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={name}>
        <line className="chart-base" x1={0} x2={width} y1={HEIGHT} y2={HEIGHT} />
        {bars.map((bar, index) => {
          const place = { x: index * STEP + GAP / 2, width: STEP - GAP };
          const [lower, upper] = [tall(bar.good), tall(bar.bad)];
          return (
            <g key={bar.label}>
              <title>{`${bar.label}: ${bar.good} ${good}, ${bar.bad} ${bad}`}</title>
              <rect className="chart-good" {...place} y={HEIGHT - lower} height={lower} />
              <rect className="chart-bad" {...place} y={HEIGHT - lower - upper} height={upper} />
            </g>
          );
        })}
      </svg>
      <div className="chart-ends" aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span className="row">
          <Key kind="chart-good" text={`${total('good')} ${good}`} />
          <Key kind="chart-bad" text={`${total('bad')} ${bad}`} />
        </span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      <ChartTable
        name={t('design.chart.table')}
        columns={[unit, good, bad]}
        rows={bars.filter((bar) => bar.good + bar.bad > 0).map((bar) => [bar.label, String(bar.good), String(bar.bad)])}
      />
    </figure>
  );
}

function Key({ kind, text }: { kind: string; text: string }): ReactNode {
  return (
    <span className="chart-key">
      <svg viewBox="0 0 1 1" aria-hidden="true">
        <rect className={kind} width={1} height={1} />
      </svg>
      {text}
    </span>
  );
}
