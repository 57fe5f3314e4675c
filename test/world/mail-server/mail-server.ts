import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inherited } from '../command.ts';
import { endWithTests, removeWithTests } from '../leftovers.ts';
import { freePort } from '../ports.ts';
import { until } from '../until.ts';

const HARAKA = fileURLToPath(new URL('../../../node_modules/Haraka', import.meta.url));

/** Bytes. */
const MAX_MAIL = 300_000_000;

/** Haraka, a widely used mail server that is independent of our mail client, in its own process on 127.0.0.1. */
export class MailServer {
  readonly port: number;
  readonly #folder: string;
  readonly #mails: string;
  #child: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#mails = join(folder, 'mails');
    this.port = port;
  }

  /** @param options `tls`: STARTTLS is offered; `secure`: TLS from the start; `login`: only with user `lombard`, password `p@ss/word` */
  static async start(options: { tls?: boolean; secure?: boolean; login?: boolean } = {}): Promise<MailServer> {
    const folder = removeWithTests(mkdtempSync(join(tmpdir(), 'lombard-haraka-')));
    const server = new MailServer(folder, await freePort());
    const config = join(folder, 'config');
    for (const name of ['plugins', 'queue', 'mails']) mkdirSync(join(folder, name));
    cpSync(join(HARAKA, 'config'), config, { recursive: true });
    const write = (name: string, text: string) => writeFileSync(join(config, name), `${text}\n`);
    const plugins = [
      ...(options.tls || options.secure ? ['tls'] : []),
      ...(options.login ? ['auth/flat_file'] : []),
      'steered',
    ];
    write('plugins', plugins.join('\n'));
    write('smtp.ini', `listen=127.0.0.1:${server.port}\nnodes=0\n${options.secure ? `smtps_port=${server.port}` : ''}`);
    write('me', 'mail.example.com');
    write('loglevel', 'WARN');
    write('host_list', 'example.com');
    const connection = readFileSync(join(config, 'connection.ini'), 'utf8');
    write('connection.ini', connection.replace(/^;?\s*bytes\s*=.*$/m, `bytes=${MAX_MAIL}`));
    write('auth_flat_file.ini', '[core]\nmethods=PLAIN,LOGIN\n\n[users]\nlombard=p@ss/word');
    if (options.tls || options.secure) makeCertificate(config);
    writeFileSync(
      join(folder, 'plugins', 'steered.js'),
      readFileSync(fileURLToPath(new URL('steered.cjs', import.meta.url)), 'utf8') + (options.login ? LOGIN_ONLY : ''),
    );
    await server.resume();
    return server;
  }

  /** Starts the process, and restarts it after it has died. */
  async resume(): Promise<void> {
    const child = spawn(process.execPath, [join(HARAKA, 'bin', 'haraka'), '-c', this.#folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...inherited(), MAIL_SERVER_FOLDER: this.#mails },
    });
    this.#child = endWithTests(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk));
    const started = async () => {
      if (child.exitCode !== null) throw new Error(`Haraka did not start: ${said}`);
      return answers(this.port);
    };
    await until(started, { what: 'Haraka answers', seen: () => said });
  }

  /** The certificate, for NODE_EXTRA_CA_CERTS or a TLS option. */
  get certificate(): string {
    return join(this.#folder, 'config', 'tls_cert.pem');
  }

  /** From now on: `busy` 451 to recipients, `spam` 550 to contents, `hang` no answer, `die` during contents, `forget` after accepting. */
  misbehave(how: 'busy' | 'spam' | 'hang' | 'die' | 'forget'): void {
    writeFileSync(join(this.#mails, how), '');
  }

  /** Whether a mail waits for an answer to its contents that never comes. */
  get hanging(): boolean {
    return existsSync(join(this.#mails, 'hanging'));
  }

  behave(): void {
    for (const how of ['busy', 'spam', 'hang', 'hanging', 'die', 'forget'])
      rmSync(join(this.#mails, how), { force: true });
  }

  /** The accepted mails, in no particular order. */
  mails(): { text: string; tls: boolean; user: string | null }[] {
    return readdirSync(this.#mails)
      .filter((name) => name.endsWith('.eml'))
      .map((name) => ({
        text: readFileSync(join(this.#mails, name), 'utf8'),
        ...JSON.parse(readFileSync(join(this.#mails, `${name.slice(0, -4)}.part.json`), 'utf8')),
      }));
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  get dead(): boolean {
    return this.#child?.exitCode !== null || this.#child?.signalCode !== null;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const LOGIN_ONLY = `
exports.hook_mail = function (next, connection) {
  next(connection.notes.auth_user ? OK : DENY, 'log in first');
};
`;

function makeCertificate(folder: string): void {
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', 'tls_key.pem', '-out', 'tls_cert.pem'],
    ],
    { cwd: folder, stdio: 'ignore' },
  );
  // The group of RFC 7919. Otherwise Haraka would search for primes, which keeps a core busy for up to 30 seconds.
  const group = ['genpkey', '-genparam', '-algorithm', 'DH', '-pkeyopt', 'dh_param:ffdhe2048', '-out', 'dhparams.pem'];
  execFileSync('openssl', group, { cwd: folder, stdio: 'ignore' });
}

async function answers(port: number): Promise<boolean> {
  const { connect } = await import('node:net');
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
