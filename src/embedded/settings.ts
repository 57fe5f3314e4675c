/**
 * The settings that every start writes to postgresql.conf, for a laptop with two cores that also runs the service. `ALTER SYSTEM` overrides
 * each of them, because PostgreSQL reads its file later.
 */
const SETTINGS: Record<string, string> = {
  max_connections: '200',
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  // Parallel work would take the core that the service runs on, and need more of /dev/shm than containers have.
  max_parallel_maintenance_workers: '0',
  // An embedded database is not replicated. With this level, bulk loads into new tables skip the log.
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Limits crash recovery to a few seconds.
  max_wal_size: '1GB',
  checkpoint_timeout: '10min',
  // Queue tables quickly collect many dead rows.
  autovacuum_naptime: '15s',
  autovacuum_vacuum_scale_factor: '0.1',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The service logs failed statements itself. This log contains only what concerns the server, never a statement or a value.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
  log_line_prefix: '',
};

/**
 * For tests: the data is lost if the machine fails. synchronous_commit stays on: without it, commits would be lost when a process is
 * killed; without fsync it costs only one write() for each commit.
 */
const NOT_DURABLE: Record<string, string> = { fsync: 'off', full_page_writes: 'off' };

/** The text of postgresql.conf. */
export function configurationFile(): string {
  const lines = Object.entries(SETTINGS).map(([name, value]) => `${name} = '${value}'`);
  return `# Written at every start of the service: change a setting with ALTER SYSTEM, not here.\n${lines.join('\n')}\n`;
}

/** The text of pg_hba.conf: connections only from this machine, and only with the password. */
export function accessFile(): string {
  return '# Written at every start of the service.\nlocal all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n';
}

/**
 * The server's command-line arguments. The caller's settings override those for tests. Nothing overrides how the server is reached: on the
 * loopback interface, and through a unix socket in its own directory, which nobody else may enter.
 */
export function serverArguments(port: number, durable: boolean, extra: Record<string, string>): string[] {
  const socket = { unix_socket_directories: '.', unix_socket_permissions: '0700' };
  const fixed = { listen_addresses: '127.0.0.1', port: String(port), ...socket };
  const all = { ...(durable ? {} : NOT_DURABLE), ...extra, ...fixed };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
