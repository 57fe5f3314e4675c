import type { ReactNode } from 'react';
import { BarChart } from '../../design/bar-chart.tsx';
import { CodeBlock } from '../../design/code-block.tsx';
import { LineChart, SparkLine } from '../../design/line-chart.tsx';
import { Sample } from './sample.tsx';

const HOURS = ['09:00', '10:00', '11:00', '12:00', '13:00'];
const VALUES = ['1200.50', '900.00', '2400.00', '-150.25', '800.00'];

/** Charts with their tables, and a block of code. */
export function Charts(): ReactNode {
  return (
    <Sample name="LineChart, BarChart, SparkLine, CodeBlock">
      <LineChart
        name="LineChart"
        columns={['Hour', 'Balance']}
        points={HOURS.map((label, index) => ({
          label,
          height: Number(VALUES[index]),
          value: VALUES[index] as string,
        }))}
      />
      <BarChart
        name="BarChart"
        unit="Hour"
        good="delivered"
        bad="failed"
        none="none"
        bars={HOURS.map((label, index) => ({ label, good: 12 + 3 * index, bad: index % 3 }))}
      />
      <LineChart name="Empty" columns={['Hour', 'Lag']} points={[]} none="No lag in the last 6 hours" />
      <SparkLine name="SparkLine" heights={VALUES.map(Number)} />
      <CodeBlock name="CodeBlock" text='{"id":"PAY000001","amount":1200.50,"lines":[]}' />
    </Sample>
  );
}
