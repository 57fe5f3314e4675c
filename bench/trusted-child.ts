import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';

/** The callers of bench/trusted.ts. They send keep-alive requests for some seconds, or open many connections for one request each. */
const { identity, connections } = workerData as {
  identity: { ca: string; cert: string; key: string };
  connections: number;
};

async function once(pool: Pool): Promise<number> {
  const start = performance.now();
  const { statusCode, body } = await pool.request({ path: '/', method: 'GET' });
  await body.text();
  if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  return performance.now() - start;
}

parentPort?.on('message', async (order: { address: string; seconds?: number; handshakes?: number }) => {
  const open = () =>
    new Pool(order.address, { connections, pipelining: 1, connect: { ...identity, maxCachedSessions: 0 } });
  const latencies: number[] = [];
  const start = performance.now();
  if (order.handshakes) {
    for (let count = 0; count < order.handshakes; count++) {
      const pool = open();
      latencies.push(await once(pool));
      await pool.destroy();
    }
  } else {
    const pool = open();
    const end = start + (order.seconds ?? 1) * 1_000;
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (performance.now() < end) latencies.push(await once(pool));
      }),
    );
    await pool.close();
  }
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  parentPort?.postMessage({
    requests: latencies.length,
    seconds: (performance.now() - start) / 1_000,
    p50: at(0.5),
    p99: at(0.99),
  });
});
