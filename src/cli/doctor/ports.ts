import { requireFreePorts, type WantedPort } from '../../http/server/ports.ts';
import type { Config } from '../../settings/config.ts';
import { wantedPorts } from '../../start-checks.ts';
import { fieldsOf } from '../../values/unknown.ts';
import { type Running, readRunning } from '../running.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

const ANSWER_TIMEOUT_MS = 3_000;

/** Checks the service that runs on the data directory, and whether it is ready; then the ports. A port in use by this service is ok. */
export async function checkListeners(config: Config): Promise<Finding[]> {
  const running = await runningNow(config);
  const findings: Finding[] = [];
  if (running?.ready === undefined) findings.push(ok('service', 'none runs on this data directory'));
  else if (running.ready === '') findings.push(ok('service', `runs and is ready (${running.addresses.api})`));
  else findings.push(failed('service', `runs, but is not ready: ${running.ready}`));
  const faults: Finding[] = [];
  for (const wanted of wantedPorts(config)) {
    await requireFreePorts([wanted]).catch((error: Error) => {
      if (running === undefined) faults.push(failed('ports', `${error.message}; stop it, or set ${wanted.variable}`));
      else if (!isOwn(wanted, config, running.addresses))
        faults.push(
          warning(
            'ports',
            `${error.message}; the running service has other ports, but a start with these settings would be refused: set ${wanted.variable}`,
          ),
        );
    });
  }
  faults.push(...wantedTwice(wantedPorts(config)));
  if (faults.length > 0) return [...findings, ...faults];
  return [...findings, ok('ports', running ? 'the running service has them' : 'all of them are free')];
}

/** Finds listeners of one process that want the same port. */
function wantedTwice(wanted: WantedPort[]): Finding[] {
  return wanted.flatMap(({ variable, host, port }, at) => {
    const other = wanted.slice(0, at).find((one) => port !== 0 && one.port === port && one.host === host);
    if (!other) return [];
    return [failed('ports', `${variable} and ${other.variable} are both ${port}: set one of them to another port`)];
  });
}

/** `ready`: empty if it is ready, otherwise the reason why it is not. */
async function runningNow(config: Config): Promise<{ addresses: Running; ready: string } | undefined> {
  const addresses = readRunning(config);
  const health = addresses?.health ?? addresses?.operator;
  if (!addresses || !health) return undefined;
  try {
    const answer = await fetch(`${health}/health/ready`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    const { ready, reason } = fieldsOf(await answer.json());
    return { addresses, ready: ready ? '' : String(reason ?? `its health answers ${answer.status}`) };
  } catch {
    // The service was killed, or the port belongs to another program by now.
    return undefined;
  }
}

/** Whether the running service has this port. Behind a public address its port is not recorded, so this is assumed. */
function isOwn({ variable, port }: WantedPort, config: Config, running: Running): boolean {
  const addresses: Record<string, [address: string | null, isPublic: boolean]> = {
    LOMBARD_API_PORT: [running.api, config.apiUrl !== undefined],
    LOMBARD_AUTH_PORT: [running.auth, config.authUrl !== undefined],
    LOMBARD_TRUSTED_PORT: [running.trusted, config.trustedUrl !== undefined],
    LOMBARD_OPERATOR_PORT: [running.operator, false],
    LOMBARD_HEALTH_PORT: [running.health, false],
  };
  const [address, isPublic] = addresses[variable] ?? [null, false];
  return address !== null && (isPublic || Number(new URL(address).port) === port);
}
