import type { ReactNode } from 'react';
import { useLocale, useText } from '../texts/text.tsx';
import { ChartTable } from './chart-table.tsx';
import { numberFormat } from './formats.ts';
import { NoValues, Plot } from './plot.tsx';
import { HEIGHT, type Scale, scaleOf } from './scale.ts';

/** A point: its position and its text. */
export interface Point {
  label: string;
  /** For drawing only. */
  height: number;
  /** The exact value. */
  value: string;
}

interface ValueChartProps {
  /** What the chart shows, in one sentence: screen readers read it in place of the line. */
  name: string;
  points: Point[];
  columns: [string, string];
  /** The message if every value is zero; without it, the line lies on the axis. */
  none?: string;
}

const WIDTH = 300;
/** The width of a bar as a share of its slot. */
const BAR = 0.7;

/** A value over time, as a line from zero and as a table. The figures are texts; numbers only position the line and its axis. */
export function LineChart(props: ValueChartProps): ReactNode {
  return <ValueChart {...props} shape="line" />;
}

/** Daily values, as bars and as a table. */
export function ValueBars(props: ValueChartProps): ReactNode {
  return <ValueChart {...props} shape="bars" />;
}

function ValueChart({ name, points, columns, none, shape }: ValueChartProps & { shape: 'line' | 'bars' }): ReactNode {
  const t = useText();
  const short = numberFormat(useLocale(), { notation: 'compact', maximumFractionDigits: 1 });
  if (none !== undefined && points.every(({ height }) => height === 0)) return <NoValues>{none}</NoValues>;
  const heights = points.map(({ height }) => height);
  const scale = scaleOf(heights, false);
  const { x: along, line } = lineOf(heights, scale.y);
  const step = WIDTH / points.length;
  const x = shape === 'line' ? along : (index: number) => (index + 0.5) * step;
  return (
    <figure className="chart">
      <Plot
        name={name}
        scale={scale}
        tick={(value) => short.format(value)}
        width={WIDTH}
        count={points.length}
        x={x}
        tip={(index) => (
          <>
            <strong>{points[index]?.value}</strong>
            <span>{points[index]?.label}</span>
          </>
        )}
      >
        {shape === 'line' ? (
          <>
            <path className="chart-area" d={`${line}L${WIDTH} ${scale.y(0)}L0 ${scale.y(0)}Z`} />
            <path className="chart-line" d={line} />
          </>
        ) : (
          points.map(({ label, height }, index) => (
            <rect
              key={label}
              className="chart-good"
              x={index * step + (step * (1 - BAR)) / 2}
              width={step * BAR}
              y={scale.y(height)}
              height={HEIGHT - scale.y(height)}
            />
          ))
        )}
      </Plot>
      <div className="chart-ends" aria-hidden="true">
        <span>{points[0]?.label}</span>
        <span>{points.at(-1)?.label}</span>
      </div>
      <ChartTable
        name={t('design.chart.table')}
        columns={columns}
        rows={points.filter(({ height }) => shape === 'line' || height !== 0).map(({ label, value }) => [label, value])}
      />
    </figure>
  );
}

/**
 * The least part of the greatest value that a plain line is high for: from zero a balance that moves little would always be flat, and from its
 * least value it would always look like a fall or a rise.
 */
const LEAST_SPAN = 0.25;

/** A plain line, for use beside the figures: how a value moved, not how much it is. @param name what screen readers read in its place */
export function SparkLine({ name, heights }: { name: string; heights: readonly number[] }): ReactNode {
  const [least, most] = [Math.min(...heights), Math.max(...heights)];
  const span = Math.max(most - least, LEAST_SPAN * Math.max(Math.abs(least), Math.abs(most))) || 1;
  const base = (least + most) / 2 - span / 2;
  const { line } = lineOf(heights, (height) => HEIGHT - ((height - base) / span) * HEIGHT);
  return (
    <svg className="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={name}>
      <path className="chart-area" d={`${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />
      <path className="chart-line" d={line} />
    </svg>
  );
}

/** @param y the vertical position of a value */
function lineOf(heights: readonly number[], y: Scale['y']): { x: (index: number) => number; line: string } {
  const x = (index: number) => (index * WIDTH) / Math.max(1, heights.length - 1);
  const line = heights.map((height, index) => `${index === 0 ? 'M' : 'L'}${x(index)} ${y(height)}`).join('');
  return { x, line };
}
