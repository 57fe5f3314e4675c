import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Logger } from '../../process/log.ts';
import type { Part } from '../../process/parts.ts';
import type { Config } from '../../settings/config.ts';
import { Problem, StartupError } from '../../values/errors.ts';
import { codeOf } from '../../values/unknown.ts';
import { errorMessage, STATUS } from '../schemas/problem.ts';
import { authorityOf, type Binding, listenOn } from './listener.ts';
import { portFault } from './ports.ts';
import { requestIdFrom } from './request-id.ts';
import { answerUnparsed } from './unparsed.ts';

/** What the health listener reports. */
export interface Health {
  /** Why requests should go elsewhere; undefined if this process is ready. */
  fault(): string | undefined | Promise<string | undefined>;
  /** In Prometheus' text format. */
  metrics(): Promise<{ contentType: string; text: string }>;
}

interface Options {
  binding: Binding;
  /** Whether a free port may be used if the wanted one is taken. */
  ifTaken: 'free' | 'refuse';
  health: Health;
  log: Logger;
}

/** Makes the health listener that the settings describe. */
export function createHealthListener(config: Config, log: Logger, health: Health): HealthListener {
  const { port, ifTaken } = config.healthPort;
  const binding = { variable: 'LOMBARD_HEALTH_PORT', host: config.healthHost, port };
  return new HealthListener({ binding, ifTaken, health, log });
}

/** The health listener of a process, whatever its roles: GET /health/live, /health/ready and /metrics, without a token. */
export class HealthListener implements Part {
  readonly #options: Options;
  readonly #server: Server;

  constructor(options: Options) {
    this.#options = options;
    this.#server = createServer({ requireHostHeader: false }, (request, response) => {
      response.setHeader('x-request-id', requestIdFrom(request.headers['x-request-id']));
      response.setHeader('x-content-type-options', 'nosniff');
      answer(options.health, request, response).catch((error: Error) => {
        options.log.error({ reason: error.message }, 'health or metrics could not be told');
        send(response, 500, { ready: false, reason: 'health could not be told; the log has the reason' });
      });
    });
    answerUnparsed(this.#server, {
      refused: ({ problem: { code, details }, status, requestId, traceId }) =>
        options.log.info({ request_id: requestId, trace_id: traceId, status, code, details }, 'request'),
    });
  }

  /** @throws StartupError if the port was set explicitly and is taken */
  async start(): Promise<void> {
    const { binding, ifTaken, log } = this.#options;
    const { variable, host, port } = binding;
    try {
      await listenOn(this.#server, { host, port });
    } catch (error) {
      if (ifTaken === 'refuse' || codeOf(error) !== 'EADDRINUSE')
        throw new StartupError(portFault({ variable, host, port }, error), { cause: error });
      await listenOn(this.#server, { host, port: 0 });
      log.warn({ variable, taken: port, port: this.port }, 'the port for health is taken; another one was chosen');
    }
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  get port(): number {
    const bound = this.#server.address();
    return typeof bound === 'object' && bound ? bound.port : 0;
  }

  /** Its address for a caller on this machine, once it listens. */
  get url(): string {
    return `http://${authorityOf(this.#options.binding.host, this.port)}`;
  }
}

const PATHS = ['/health/live', '/health/ready', '/metrics'];

async function answer(health: Health, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', httpVersion, headers, url = '' } = request;
  const refuse = (problem: Problem) => send(response, STATUS[problem.code], errorMessage(problem));
  if (httpVersion === '1.1' && headers.host === undefined)
    return refuse(new Problem('malformed_request', 'header.Host: is required (RFC 9112, 3.2)'));
  const path = url.split('?', 1)[0] ?? '';
  if (!PATHS.includes(path)) return refuse(new Problem('not_found', `path: only ${PATHS.join(', ')} are served here`));
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return refuse(new Problem('method_not_allowed', `${method}: the methods of ${path} are GET, HEAD`));
  }
  if (path === '/health/live') return send(response, 200, { status: 'ok' });
  if (path === '/health/ready') {
    const { status, body } = readyAnswer(await health.fault());
    return send(response, status, body);
  }
  const { contentType, text } = await health.metrics();
  response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text);
}

/** The answer of /health/ready, on this listener and on the operator's. */
export function readyAnswer(fault: string | undefined): { status: 200 | 503; body: object } {
  return fault === undefined
    ? { status: 200, body: { ready: true } }
    : { status: 503, body: { ready: false, reason: fault } };
}

function send(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}
