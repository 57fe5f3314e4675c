import type { ReactNode } from 'react';
import { useLocale, useText } from '../texts/text.tsx';
import { ChartTable } from './chart-table.tsx';
import { numberFormat } from './formats.ts';
import { NoValues, Plot } from './plot.tsx';
import { HEIGHT, scaleOf } from './scale.ts';

/** One bar: successes below, failures on top. */
export interface Bar {
  label: string;
  good: number;
  bad: number;
}

interface BarChartProps {
  /** What the chart shows, in one sentence: screen readers read it in place of the bars. */
  name: string;
  bars: Bar[];
  good: string;
  bad: string;
  /** What a bar stands for, used as the heading of the table. */
  unit: string;
  /** The message if all bars are empty. */
  none: string;
}

/** Width of a bar with its gap, in the drawing's own unit. */
const STEP = 10;
const GAP = 2;

/** Counts over time, as bars and as a table. */
export function BarChart({ name, bars, good, bad, unit, none }: BarChartProps): ReactNode {
  const t = useText();
  const locale = useLocale();
  if (bars.every((bar) => bar.good + bar.bad === 0)) return <NoValues>{none}</NoValues>;
  const format = numberFormat(locale, {});
  const short = numberFormat(locale, { notation: 'compact' });
  const total = (kind: 'good' | 'bad') => format.format(bars.reduce((sum, bar) => sum + bar[kind], 0));
  const scale = scaleOf(
    bars.map((bar) => bar.good + bar.bad),
    true,
  );
  const width = bars.length * STEP;
  return (
    <figure className="chart">
      <Plot
        name={name}
        scale={scale}
        tick={(value) => short.format(value)}
        width={width}
        count={bars.length}
        x={(index) => (index + 0.5) * STEP}
        tip={(index) => {
          const bar = bars[index] as Bar;
          return (
            <>
              <strong>{bar.label}</strong>
              <Key kind="chart-good" text={`${format.format(bar.good)} ${good}`} />
              <Key kind="chart-bad" text={`${format.format(bar.bad)} ${bad}`} />
            </>
          );
        }}
      >
        {bars.map((bar, index) => {
          const place = { x: index * STEP + GAP / 2, width: STEP - GAP };
          const [upper, middle] = [scale.y(bar.good + bar.bad), scale.y(bar.good)];
          return (
            <g key={bar.label}>
              <rect className="chart-good" {...place} y={middle} height={HEIGHT - middle} />
              <rect className="chart-bad" {...place} y={upper} height={middle - upper} />
            </g>
          );
        })}
      </Plot>
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
