import { readPaths } from '../../database/cells/cell.ts';
import { askCells, type SilentCell } from '../../database/cells/contexts.ts';
import { databaseAddresses } from '../../database/open.ts';
import { readOffset } from '../../sandbox/clock.ts';
import type { Config } from '../../settings/config.ts';
import { embeddedUrl } from '../../settings/data-directory.ts';
import type { Environment } from '../../settings/settings.ts';
import { ServiceClock } from '../../values/calendar.ts';
import { example, type Frame } from '../frame.ts';
import { checkCertificates } from './certificates.ts';
import { checkConfiguration } from './configuration.ts';
import { checkDatabase, openForChecks, unusable } from './database.ts';
import { type Finding, failed, lasting, ok, warning } from './finding.ts';
import { checkDataDirectory, checkMachine } from './machine.ts';
import { checkListeners } from './ports.ts';
import { checkRecords, checkTokenFile } from './records.ts';
import { checkSenders } from './senders.ts';
import { checkWork } from './work.ts';

/** Checks everything that can be checked from here, and changes nothing. */
export async function examine(env?: Environment): Promise<Finding[]> {
  const { config, findings } = checkConfiguration(env);
  const machine = await checkMachine();
  if (!config) return [...machine, ...findings];
  const clock = new ServiceClock();
  return [
    ...machine,
    ...findings,
    ...(await checkDataDirectory(config)),
    ...(await checkListeners(config)),
    ...(await checkCertificates(config, clock.now())),
    ...(await checkSenders(config)),
    ...(await checkStored(config, clock)),
  ];
}

/** The checks that query the database. If its schema or the rights to it are missing, the checks of its contents are skipped. */
async function checkStored(config: Config, clock: ServiceClock): Promise<Finding[]> {
  const url = config.databaseUrl ?? embeddedUrl(config.dataDir);
  if (url === undefined)
    return [ok('database', 'the embedded one, which the first start makes'), ...unknownToken(config)];
  const addresses = databaseAddresses(config, url);
  let pool = openForChecks(addresses);
  try {
    const fault = await unusable(pool, config);
    if (fault && !fault.refused && !config.databaseUrl)
      return [
        ok('database', 'the embedded one; it starts with the service, so it was not looked into'),
        ...(await checkTokenFile(config)),
      ];
    if (fault) return [fault.finding, ...unknownToken(config)];
    const findings = await checkDatabase(pool, config, addresses, () => clock.now());
    const lacking = ['schema', 'rights of the role'];
    if (findings.some(({ check, status }) => lacking.includes(check) && status !== 'ok')) return findings;
    const cells = await readPaths(pool);
    if (cells) {
      await pool.end();
      pool = openForChecks(addresses, cells);
    }
    const { answering, silent } = await askCells(pool);
    const [home = pool, ...others] = answering;
    findings.push(...silent.map(cellFault));
    if (config.environment === 'sandbox') {
      clock.offset = await readOffset(pool);
      if (clock.offset !== 0)
        findings.push(
          warning(
            'clock',
            `the sandbox's is ${lasting(Math.abs(clock.offset) / 1_000)} away: DELETE /clock sets it back`,
          ),
        );
    }
    return [
      ...findings,
      ...(await checkRecords([home, ...others], config, clock.now())),
      ...(await checkWork([home, ...others], clock)),
    ];
  } finally {
    await pool.end();
  }
}

function cellFault({ cell, reason }: SilentCell): Finding {
  return failed(
    'cell',
    `${cell} does not answer (${reason}), and its clients get 502: look at its server (lombard cells list)`,
  );
}

/** Production needs an operator token before its first start, and without the database nobody can tell whether it has one. */
function unknownToken({ environment, operatorToken }: Config): Finding[] {
  if (environment === 'sandbox' || operatorToken !== undefined) return [];
  const message =
    'LOMBARD_OPERATOR_TOKEN is not set, and the database cannot be asked for a valid token; without one a start is refused';
  return [
    failed('operator tokens', `${message}: set it, or create one (lombard operator-tokens create NAME --database)`),
  ];
}

/** `lombard doctor`. */
export function doctorCommand(frame: Frame): void {
  const doctor = frame.program
    .command('doctor')
    .description('check this machine, the configuration, the database and what the service depends on');
  example(doctor, 'doctor', 'doctor --json | jq \'.[] | select(.status != "ok")\'');
  frame.does(doctor, async ({ print }) => {
    // Loading everything that is checked takes a second, which other commands should not wait for.
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
