import { setTimeout as pause } from 'node:timers/promises';
import type { Seeded } from '../../src/sandbox/demonstration/seeded.ts';
import { call } from '../world/service.ts';
import { OPERATOR_TOKEN, type ServiceProcess, type System } from './system.ts';

/** How long a process stands still. */
const STOPPED_MS = 10_000;
const CLOCK_JUMP_SECONDS = 3 * 3_600;

/** Something that goes wrong, and ends. */
export interface Fault {
  name: string;
  /** Happens, lasts a while, and is over when it returns; then everything has to recover by itself. */
  inflict(system: System, random: Seeded): Promise<void>;
  /** Whether it can be done here. */
  possible?: (system: System) => boolean;
}

const moment = (random: Seeded) => pause(random.whole(500, 4_000));

function ofProcess(name: string, inflict: (process: ServiceProcess, random: Seeded) => Promise<void>): Fault[] {
  return [0, 1, 2, 3].map((n) => ({
    name: `${name}, process ${n}`,
    inflict: (system, random) => inflict(system.processes[n] as ServiceProcess, random),
  }));
}

/** All of them: a round of the long run inflicts each once, in an order of the seed. */
export const FAULTS: readonly Fault[] = [
  ...ofProcess('kill -9', async (process, random) => {
    await process.end('SIGKILL');
    await moment(random);
  }),
  ...ofProcess('SIGTERM', async (process, random) => {
    await process.end('SIGTERM');
    await moment(random);
  }),
  ...ofProcess('SIGSTOP', async (process) => {
    process.signal('SIGSTOP');
    await pause(STOPPED_MS);
    process.signal('SIGCONT');
  }),
  ...ofProcess('packets are swallowed', async (process) => {
    for (const link of process.links) link.swallow();
    await pause(STOPPED_MS);
    for (const link of process.links) link.heal();
  }),
  {
    name: 'packets to PgBouncer are swallowed',
    possible: ({ pooler }) => pooler !== undefined,
    inflict: async ({ databases }) => {
      databases.writer.swallow();
      await pause(STOPPED_MS);
      databases.writer.heal();
    },
  },
  {
    name: 'all connections break',
    inflict: async ({ processes, databases }) => {
      for (const link of [databases.writer, ...processes.flatMap(({ links }) => links)]) link.break();
    },
  },
  {
    name: 'kill -9 of PgBouncer',
    possible: ({ pooler }) => pooler !== undefined,
    inflict: async ({ pooler }) => pooler?.restart(),
  },
  {
    name: 'kill -9 of the database',
    inflict: async ({ databases }, random) => {
      databases.primary.signal('SIGKILL');
      await moment(random);
      await databases.primary.restart();
    },
  },
  {
    name: 'SIGSTOP of the database',
    inflict: async ({ databases }) => {
      databases.primary.signal('SIGSTOP');
      await pause(STOPPED_MS);
      databases.primary.signal('SIGCONT');
    },
  },
  {
    name: 'the database is read-only',
    inflict: async ({ databases }, random) => {
      await databases.command('alter system set default_transaction_read_only = on', 'select pg_reload_conf()');
      await moment(random);
      await databases.command('alter system reset default_transaction_read_only', 'select pg_reload_conf()');
    },
  },
  {
    name: 'the disk is full',
    possible: ({ databases }) => databases.fillable,
    inflict: async ({ databases }, random) => {
      const empty = databases.fillDisk();
      try {
        await pause(random.whole(3_000, 8_000));
      } finally {
        empty();
      }
      // A server that could not write its log has ended; whoever runs it starts it again.
      await databases.command('select 1').catch(() => databases.primary.restart());
    },
  },
  {
    name: 'the clock jumps',
    inflict: async ({ fronts }) => {
      const body = { advance_seconds: CLOCK_JUMP_SECONDS };
      await call(`${fronts[0]?.operator}/clock`, 'PUT', { token: OPERATOR_TOKEN, body });
    },
  },
  { name: 'failover to the standby', inflict: ({ databases }) => databases.failOver() },
  { name: 'an upgrade', inflict: (system, random) => system.upgrade(random) },
  {
    name: 'kill -9 of the database during an upgrade',
    inflict: async (system, random) => {
      const upgraded = system.upgrade(random);
      await moment(random);
      system.databases.primary.signal('SIGKILL');
      await moment(random);
      await Promise.all([system.databases.primary.restart(), upgraded]);
      // A process that starts without a database ends, and says so. It was started again.
      for (const { deaths } of system.processes)
        deaths.splice(
          0,
          deaths.length,
          ...deaths.filter((each) => !each.includes(' by itself: lombard: DATABASE_URL: ')),
        );
    },
  },
];
