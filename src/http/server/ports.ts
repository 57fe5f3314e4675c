import { createServer, type Server } from 'node:net';
import { StartupError } from '../../values/errors.ts';
import { codeOf, messageOf } from '../../values/unknown.ts';

/** A port that a listener will use, and the variable that sets it. */
export interface WantedPort {
  variable: string;
  host: string;
  /** 0: any free port. */
  port: number;
}

/**
 * Makes sure that every port is free and that no two listeners want the same one. Nothing stays open afterwards.
 * @throws StartupError that names the variable of each port that is taken
 */
export async function requireFreePorts(wanted: WantedPort[]): Promise<void> {
  const held: Server[] = [];
  const faults: string[] = [];
  for (const want of wanted)
    if (want.port !== 0)
      await hold(want).then(
        (server) => held.push(server),
        (error: Error) => faults.push(error.message),
      );
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  if (faults.length > 0) throw new StartupError(faults.join('; '));
}

function hold(wanted: WantedPort): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => reject(new StartupError(portFault(wanted, error))));
    server.listen({ port: wanted.port, host: wanted.host, exclusive: true }, () => resolve(server));
  });
}

/** Why a listener cannot have its address, in one line for the person who starts the service. */
export function portFault({ variable, host, port }: WantedPort, error: unknown): string {
  if (codeOf(error) === 'EADDRINUSE')
    return `${variable}: port ${port} of ${host} is taken by another listener or program`;
  if (codeOf(error) === 'EACCES') return `${variable}: this user may not listen on port ${port} of ${host}`;
  const hostVariable = variable
    .replace(/^LOMBARD_(?:API|AUTH|TRUSTED)_PORT$/, 'LOMBARD_HOST')
    .replace(/_PORT$/, '_HOST');
  return `${hostVariable}: cannot listen on ${host}, port ${port}: ${messageOf(error)}`;
}
