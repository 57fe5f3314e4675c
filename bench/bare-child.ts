/** Bare Fastify that answers 401 like the service: the floor for the plain refusals in bench/service.ts. */
import fastify from 'fastify';

const app = fastify();
app.setErrorHandler((error: Error, _request, reply) =>
  reply.code(401).send({ code: 'authentication_failed', message: error.message, details: 'header.Authorization' }),
);
app.get('/payments', () => {
  throw new Error('Authentication failed');
});
process.send?.({ api: await app.listen({ port: 0, host: '127.0.0.1' }) });
// The bench was interrupted, or has ended.
process.once('disconnect', () => process.exit(0));
process.on('message', async (message) => {
  if (message !== 'stop') return;
  await app.close();
  process.disconnect();
});
