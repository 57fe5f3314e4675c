import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { TestService } from './service.ts';

/** A POST to the operator interface whose headers are sent; the caller sends the body. */
export interface Upload {
  request: ClientRequest;
  answer: Promise<{ status: number; headers: IncomingMessage['headers']; text: string }>;
  closed: Promise<void>;
}

export function beginUpload(
  service: Pick<TestService, 'operatorUrl' | 'operatorToken'>,
  path: string,
  headers: Record<string, string> = {},
): Upload {
  const outgoing = request(`${service.operatorUrl}${path}`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${service.operatorToken}`, 'content-type': 'application/x-ndjson', ...headers },
  });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  outgoing.on('close', close);
  const answer = new Promise<Awaited<Upload['answer']>>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on('error', reject);
    });
  });
  answer.catch(() => {});
  outgoing.flushHeaders();
  return { request: outgoing, answer, closed };
}
