import { type PointerEvent, type ReactNode, useState } from 'react';
import { HEIGHT, type Scale } from './scale.ts';
import './chart.css';

interface PlotProps {
  /** What the chart shows, in one sentence: screen readers read it in place of the drawing. */
  name: string;
  scale: Scale;
  tick: (value: number) => string;
  width: number;
  /** The number of values side by side. */
  count: number;
  /** The horizontal position of a value, from the left. */
  x: (index: number) => number;
  /** The text for the value under the pointer. */
  tip: (index: number) => ReactNode;
  children: ReactNode;
}

/** A chart over time with its axis. The pointer shows single values; the table below has them all. */
export function Plot({ name, scale, tick, width, count, x, tip, children }: PlotProps): ReactNode {
  const [pointed, point] = useState<number>();
  const look = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width: wide } = currentTarget.getBoundingClientRect();
    const at = ((clientX - left) / wide) * width;
    const distances = Array.from({ length: count }, (_, index) => Math.abs(x(index) - at));
    point(distances.indexOf(Math.min(...distances)));
  };
  const at = pointed !== undefined && pointed >= 0 && pointed < count ? pointed : undefined;
  const share = at === undefined ? '' : `${(x(at) / width) * 100}%`;
  return (
    <div className="plot">
      <div className="plot-axis" aria-hidden="true">
        {scale.ticks.map((value) => (
          <span key={value}>{tick(value)}</span>
        ))}
      </div>
      <div className="plot-area" onPointerMove={look} onPointerDown={look} onPointerLeave={() => point(undefined)}>
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={name}>
          {scale.ticks.map((value) => (
            <line
              key={value}
              className={value === 0 ? 'chart-base' : 'chart-grid'}
              x1={0}
              x2={width}
              y1={scale.y(value)}
              y2={scale.y(value)}
            />
          ))}
          {at !== undefined && <line className="chart-at" x1={x(at)} x2={x(at)} y1={0} y2={HEIGHT} />}
          {children}
        </svg>
        {at !== undefined && (
          <div className="plot-tip" aria-hidden="true" style={{ left: share, transform: `translateX(-${share})` }}>
            {tip(at)}
          </div>
        )}
      </div>
    </div>
  );
}

/** Takes the place of a chart without values, in the same space. */
export function NoValues({ children }: { children: ReactNode }): ReactNode {
  return <p className="plot-none quiet">{children}</p>;
}
