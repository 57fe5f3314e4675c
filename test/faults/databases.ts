import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type DefaultServer, startDefaultServer, startStandby } from '../world/default-postgresql.ts';
import { removeWithTests } from '../world/leftovers.ts';
import { until } from '../world/until.ts';
import { Link } from './link.ts';

/** The size of the disk that can be filled; it is in memory. An hour of work does not fit on the small one. */
const DISK = { small: '700m', large: '4g' };
/** A process with several cells has more connections (docs/scale.md), and there is one more during an upgrade. */
const SETTINGS = { max_wal_size: '128MB', min_wal_size: '32MB', max_connections: '300' };

/**
 * A primary whose every commit is on its standby too, so that a promotion loses nothing that was answered. Links lead to both, and one
 * to whichever takes writes.
 */
export class Databases {
  primary: DefaultServer;
  standby: DefaultServer;
  /** A file system that can be filled, if this user may mount: first the primary's, after a failover the standby's. */
  readonly disk: string | undefined;
  readonly writer: Link;
  #onDisk: boolean;
  readonly #pairs: [Link, Link][] = [];

  private constructor(primary: DefaultServer, standby: DefaultServer, disk: string | undefined, writer: Link) {
    this.primary = primary;
    this.standby = standby;
    this.disk = disk;
    this.writer = writer;
    this.#onDisk = disk !== undefined;
  }

  static async start(size: keyof typeof DISK): Promise<Databases> {
    const disk = mountDisk(DISK[size]);
    const primary = (await startDefaultServer(SETTINGS, disk)) as DefaultServer;
    const standby = await startStandby(primary, SETTINGS);
    const databases = new Databases(primary, standby, disk, await Link.start(primary.port));
    await databases.#demandStandby();
    return databases;
  }

  /** A connection string of both hosts, through links of its own, which a fault can hit. */
  async path(): Promise<{ url: string; links: Link[] }> {
    const pair = (await Promise.all([this.primary, this.standby].map(({ port }) => Link.start(port)))) as [Link, Link];
    this.#pairs.push(pair);
    const hosts = pair.map(({ port }) => `127.0.0.1:${port}`).join();
    return { url: `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`, links: pair };
  }

  /** Whether the primary's disk can be filled: it is its own, and not everybody's. */
  get fillable(): boolean {
    return this.#onDisk;
  }

  get writerUrl(): string {
    return `postgres://postgres@127.0.0.1:${this.writer.port}/postgres`;
  }

  /** The primary is lost for good, and its standby takes its place. Then it gets a standby of its own. */
  async failOver(): Promise<void> {
    const lost = this.primary;
    lost.signal('SIGKILL');
    this.#onDisk = this.disk !== undefined && !this.#onDisk;
    await command(this.standby, 'select pg_promote()');
    this.primary = this.standby;
    this.#lead();
    await this.command("alter system set synchronous_standby_names = ''", 'select pg_reload_conf()');
    await lost.stop();
    // Where the disk was the lost one's, it is the next standby's, and the next but one primary's.
    this.standby = await startStandby(this.primary, SETTINGS, this.#onDisk ? undefined : this.disk);
    await this.#demandStandby();
    this.#lead();
  }

  /** Runs statements on the primary, beside all links; they work where it is read-only as well. */
  async command(...statements: string[]): Promise<void> {
    await command(this.primary, 'set default_transaction_read_only = off', ...statements);
  }

  /** Fills the primary's disk to its last byte; the function that it gives empties it again. */
  fillDisk(): () => void {
    const disk = this.disk as string;
    const ballast = join(disk, 'ballast');
    const { bsize } = statfsSync(disk);
    // The server writes meanwhile, and may take what was free a moment ago.
    for (let left = blocksLeft(disk); left > 0 && !allocates(ballast, left * bsize); ) left = blocksLeft(disk);
    try {
      writeFileSync(join(disk, 'rest'), Buffer.alloc(4 * bsize, 1));
    } catch {
      // It is full.
    }
    return () => execFileSync('rm', ['-f', ballast, join(disk, 'rest')]);
  }

  async stop(): Promise<void> {
    for (const link of [this.writer, ...this.#pairs.flat()]) link.stop();
    await this.standby.stop();
    await this.primary.stop();
    if (!this.disk) return;
    execFileSync('umount', [this.disk]);
    rmSync(this.disk, { recursive: true });
  }

  #lead(): void {
    this.writer.leadTo(this.primary.port);
    for (const [one, other] of this.#pairs) {
      // The hosts have changed their parts: which of them takes writes, the service finds out.
      one.leadTo(this.standby.port);
      other.leadTo(this.primary.port);
    }
  }

  async #demandStandby(): Promise<void> {
    await until(async () => {
      const [{ streams }] = await command(
        this.primary,
        "select count(*) > 0 as streams from pg_stat_replication where state = 'streaming'",
      );
      return streams;
    });
    await this.command("alter system set synchronous_standby_names = '*'", 'select pg_reload_conf()');
  }
}

function mountDisk(size: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-faults-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' });
    removeWithTests(folder);
    chmodSync(folder, 0o777);
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: rows of whatever was asked
async function command({ url }: DefaultServer, ...statements: string[]): Promise<any[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

/** The free blocks of a disk but for two, which the file's own description can take. */
function blocksLeft(disk: string): number {
  return statfsSync(disk).bavail - 2;
}

function allocates(file: string, bytes: number): boolean {
  return spawnSync('fallocate', ['-l', String(bytes), file]).status === 0;
}
