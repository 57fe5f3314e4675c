import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { describe, test } from 'node:test';
import { readConfig } from '../../src/settings/config.ts';
import { modulesOf } from '../world/command.ts';
import { createSubscriber } from '../world/graphql.ts';
import { listening } from '../world/ports.ts';
import { startTestService } from '../world/service.ts';
import { until } from '../world/until.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
/** Digits that no identifier, port or time has by chance. */
const AMOUNT = 4_711_471_147;
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

interface SpanSent {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
}

/** A server that takes what it gets. */
async function collect(take: (request: IncomingMessage, body: string) => void) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    take(request, body);
    response.end('{}');
  });
  const port = await listening(server);
  return { url: `http://127.0.0.1:${port}`, stop: () => new Promise((resolve) => server.close(resolve)) };
}

describe('traces', () => {
  test('go from a request through its statements to the receiver of a webhook', async () => {
    const spans: SpanSent[] = [];
    const services = new Set<string>();
    const collector = await collect((request, body) => {
      assert.equal(request.url, '/v1/traces');
      for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
        for (const { key, value } of resource.attributes) if (key === 'service.name') services.add(value.stringValue);
        for (const each of scopeSpans) spans.push(...each.spans);
      }
    });
    const received: string[] = [];
    const receiver = await collect((request) => received.push(String(request.headers.traceparent)));
    Object.assign(process.env, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'payments-of-the-bank',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
    const service = await startTestService({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    try {
      const { clientId, contactId, subscribe } = await createSubscriber(service);
      await subscribe({ url: receiver.url, types: ['TRADE_STATUS_CHANGE'], active: true });
      const trade = { client_id: clientId, contact_id: contactId, buy_currency: 'EUR', sell_currency: 'GBP' };
      const booked = await service.operator(
        'POST',
        '/trades',
        { ...trade, buy_amount: AMOUNT, rate: 1.17 },
        {
          headers: { traceparent: TRACEPARENT },
        },
      );
      assert.equal(booked.status, 201, booked.text);
      const sent = await until(() => received.find((traceparent) => traceparent.split('-')[1] === TRACE));
      const delivery = await until(() => spans.find(({ spanId }) => spanId === sent.split('-')[2]));
      const request = await until(() =>
        spans.find(({ traceId, name }) => traceId === TRACE && name === 'POST /trades'),
      );
      assert.equal(request.parentSpanId, '00f067aa0ba902b7');
      assert.deepEqual([delivery.name, delivery.parentSpanId], ['deliver TRADE_STATUS_CHANGE', request.spanId]);
      // Two statements where a worker of a Citus cluster has the cell.
      const statement = spans.find(
        ({ name, parentSpanId }) => /^webhooks-notify(-apart)?$/.test(name) && parentSpanId === request.spanId,
      );
      assert.ok(statement, 'the statement that writes the event');
      const text = statement.attributes.find(({ key }) => key === 'db.query.text')?.value.stringValue ?? '';
      assert.match(text, /insert into webhook_events/);
      assert.ok(!JSON.stringify(spans).includes(String(AMOUNT)), 'no value of a statement');
      assert.deepEqual([...services], ['payments-of-the-bank']);
    } finally {
      await service.stop();
      await collector.stop();
      await receiver.stop();
    }
  });

  test('are loaded only where somebody collects them', async () => {
    const loaded = modulesOf('src/service.ts');
    assert.ok(loaded.length > 10);
    assert.deepEqual(
      loaded.filter((path) => /opentelemetry\/(sdk|exporter|otlp)/.test(path)),
      [],
    );
  });

  test('need an address', () => {
    assert.throws(
      () => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }),
      /OTEL_EXPORTER_OTLP_ENDPOINT: must be an address that begins with http:\/\/ or https:\/\/, and has a host, not "collector:4318"/,
    );
  });
});
