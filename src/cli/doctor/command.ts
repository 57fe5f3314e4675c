import { example, type Frame } from '../frame.ts';
import type { Finding } from './finding.ts';

/** `lombard doctor`. */
export function doctorCommand(frame: Frame): void {
  const doctor = frame.program
    .command('doctor')
    .description('check this machine, the configuration, the database and what the service depends on');
  example(doctor, 'doctor', 'doctor --json | jq \'.[] | select(.status != "ok")\'');
  frame.does(doctor, async ({ print }) => {
    // Loading all that is checked takes a second, which other commands need not wait.
    const { examine } = await import('./examine.ts');
    const findings = await examine();
    print.rows(
      findings,
      [
        ['STATUS', ({ status }) => status],
        ['CHECK', ({ check }) => check],
        ['MESSAGE', ({ message }) => message],
      ],
      { after: summary(findings), whole: true },
    );
    return findings.some(({ status }) => status === 'failed') ? 1 : 0;
  });
}

function summary(findings: Finding[]): string {
  const number = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  return `${number('ok')} ok, ${number('warning')} warnings, ${number('failed')} failed`;
}
