// biome-ignore-all lint/suspicious/noConsole: an example prints for the person who runs it
// A sample application of Lombard's API: it signs a contact in, shows payments, and receives webhooks. It needs nothing but Node.
//
//   node examples/app/app.mjs
//
// `npm start` starts it beside the demonstration. Elsewhere, set these variables as your institution gave them to you.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const {
  API_URL = 'http://127.0.0.1:8080',
  AUTH_URL = 'http://127.0.0.1:8081',
  APPLICATION_ID = 'demo-app',
  APPLICATION_SECRET = 'demo-secret-of-the-sandbox-known-to-everybody',
  REDIRECT_URI = 'http://127.0.0.1:3000/callback',
  BRAND = 'Service', // the word in the headers of webhooks
} = process.env;
const { origin, hostname, port, pathname: callbackPath } = new URL(REDIRECT_URI);
const BASIC = `Basic ${Buffer.from(`${APPLICATION_ID}:${APPLICATION_SECRET}`).toString('base64')}`;
const WEBHOOK_URL = `${origin}/webhooks`;
const WEBHOOK_SECRET = random();
const SUBSCRIPTIONS = '{ subscriptions { nodes { id url } } }';
const DELETE = 'mutation ($id: UUID!) { deleteSubscription(input: {id: $id}) { clientMutationId } }';
const CREATE = `mutation ($subscription: SubscriptionInput!) {
  createSubscription(input: {subscription: $subscription}) { subscription { id } } }`;
const MAX_SHOWN = 20;

/** By the value of the browser's cookie. A real application keeps them where they survive a restart. */
const sessions = new Map();
/** Webhooks that came, newest first, and the open pages that want to know of the next one. */
const webhooks = [];
const pages = new Set();

// --- Signing in: the Authorization Code flow with PKCE (docs/signing-in.md) ---

function signIn(_request, response) {
  const [id, state, verifier] = [random(), random(), random()];
  sessions.set(id, { state, verifier });
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const query = new URLSearchParams({
    ...{ response_type: 'code', scope: 'openid', client_id: APPLICATION_ID, redirect_uri: REDIRECT_URI, state },
    ...{ code_challenge: challenge, code_challenge_method: 'S256' },
  });
  redirect(response, `${AUTH_URL}/authenticate?${query}`, id);
}

async function callback(request, response) {
  const answer = new URL(request.url, origin).searchParams;
  const [id, begun] = sessionOf(request);
  sessions.delete(id);
  // Another state means that somebody else began this sign-in.
  if (!begun?.state || answer.get('state') !== begun.state) return page(response, 400, 'Please sign in again.');
  if (answer.has('error')) return page(response, 400, html(answer.get('error_description')));
  const fields = { grant_type: 'authorization_code', code: answer.get('code'), redirect_uri: REDIRECT_URI };
  const body = new URLSearchParams({ ...fields, code_verifier: begun.verifier });
  const exchanged = await fetch(`${AUTH_URL}/token`, { method: 'POST', headers: { authorization: BASIC }, body });
  const tokens = await exchanged.json();
  if (!exchanged.ok) return page(response, 502, html(tokens.error_description));
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  const person = await (await fetch(`${AUTH_URL}/userinfo`, { headers })).json();
  const session = { headers, refreshToken: tokens.refresh_token, name: person.name, client: person.clients[0] };
  session.trouble = await subscribe(session).catch((error) => error.message);
  const fresh = random();
  sessions.set(fresh, session);
  redirect(response, '/', fresh);
}

async function signOut(request, response) {
  const [id, session] = sessionOf(request);
  sessions.delete(id);
  const body = new URLSearchParams({ token: session?.refreshToken ?? '' });
  await fetch(`${AUTH_URL}/revoke`, { method: 'POST', headers: { authorization: BASIC }, body });
  redirect(response, '/');
}

// --- Payments (docs/search.md) ---

async function home(request, response) {
  const [id, session] = sessionOf(request);
  if (!session?.headers) return page(response, 200, 'You are not signed in.');
  const answer = await api(session, `/payments?order=desc&page_size=${MAX_SHOWN}`);
  if (answer.status === 401) sessions.delete(id);
  const payments = await answer.json();
  if (!answer.ok) return page(response, 502, html(payments.details));
  const rows = payments.map((it) => [it.payment_id, it.amount, it.payment_currency, it.beneficiary_name, it.status]);
  const mine = webhooks.filter(({ client }) => client === session.client.client_id);
  const came = mine.map(({ at, type, about }) => [at, type, about, 'verified']);
  const body = `${html(session.name)}, ${html(session.client.client_name)}</p>
    <form method="post" action="/payments"><button>Create a payment</button></form>
    <form method="post" action="/sign-out"><button>Sign out</button></form>
    <h2>Webhooks</h2><p>${html(session.trouble ?? (came.length ? 'Newest first.' : 'None yet. Create a payment.'))}</p>
    ${table('webhooks', ['Received', 'Type', 'About', 'Signature'], came)}
    <h2>Payments</h2><p>The newest ${payments.length} of ${html(answer.headers.get('x-total-count'))}.</p>
    ${table('payments', ['Payment', 'Amount', 'Currency', 'Beneficiary', 'Status'], rows)}
    <script>new EventSource('/events?newest=${html(webhooks[0]?.id)}').onmessage = () => location.reload()</script><p>`;
  page(response, 200, body, '');
}

/** In production the institution creates payments; in the sandbox anybody may (docs/sandbox.md). */
async function createPayment(request, response) {
  const [, session] = sessionOf(request);
  if (session?.headers) await api(session, '/sandbox/payments', { approval: 'needed' });
  redirect(response, '/');
}

// --- Webhooks (docs/webhooks.md) ---

/** One subscription for this address. That of an earlier run has a secret that nobody knows any more. */
async function subscribe(session) {
  const { subscriptions } = await graphql(session, SUBSCRIPTIONS);
  for (const { id, url } of subscriptions.nodes) if (url === WEBHOOK_URL) await graphql(session, DELETE, { id });
  const subscription = { url: WEBHOOK_URL, secret: WEBHOOK_SECRET, types: ['PAYMENT_STATUS_CHANGE'], active: true };
  await graphql(session, CREATE, { subscription });
}

async function receive(request, response) {
  const body = Buffer.concat(await request.toArray()); // the bytes as they came: verify first, then parse
  const hmac = createHmac('sha3-256', WEBHOOK_SECRET).update(WEBHOOK_URL).update(body).digest('hex');
  const expected = Buffer.from(`sha3-256=${hmac}`);
  const header = (name) => request.headers[`x-${BRAND.toLowerCase()}-${name}`] ?? '';
  const given = Buffer.from(header('signature'));
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    return response.writeHead(401).end('wrong signature');
  response.writeHead(204).end(); // any 2xx within 10 seconds is a success: answer first, do long work afterwards
  const [id, client, type] = ['notification-id', 'client-id', 'webhook'].map(header);
  if (webhooks.some((one) => one.id === id)) return; // a notification can come more than once
  const { data, payment_webhook_status: status } = JSON.parse(body);
  const [at, about] = [new Date().toLocaleTimeString('en-GB'), `${data[0].payment_id} ${status}`];
  webhooks.unshift({ id, client, at, type, about });
  webhooks.splice(MAX_SHOWN);
  for (const open of pages) open.write('data: new\n\n');
}

/** Server-sent events: an open page hears of the next webhook, and of one that came after the page was made. */
function follow(request, response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }).write(':\n\n');
  if (!request.url.endsWith(`=${webhooks[0]?.id ?? ''}`)) response.write('data: new\n\n');
  pages.add(response);
  request.once('close', () => pages.delete(response));
}

// --- What all of them use ---

function api(session, path, body) {
  const url = new URL(API_URL + path);
  url.searchParams.set('client_id', session.client.client_id);
  const headers = { ...session.headers, 'content-type': 'application/json' };
  return fetch(url, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers: session.headers });
}

async function graphql(session, query, variables) {
  const { data, errors } = await (await api(session, '/webhooks/graphql', { query, variables })).json();
  if (errors) throw new Error(`There are no webhooks: ${errors[0].message}`);
  return data;
}

function sessionOf(request) {
  const id = /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];
  return [id, sessions.get(id)];
}

function random() {
  return randomBytes(32).toString('base64url');
}

function html(text) {
  return String(text ?? '').replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function table(id, headings, rows) {
  const cells = (row, tag) => `<tr>${row.map((cell) => `<${tag}>${html(cell)}</${tag}>`).join('')}</tr>`;
  return `<table id="${id}">${cells(headings, 'th')}${rows.map((row) => cells(row, 'td')).join('')}</table>`;
}

function page(response, status, body, link = '<p><a href="/sign-in">Sign in</a></p>') {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  const style =
    'body { font: 1rem system-ui } form { display: inline } th, td { text-align: left; padding-right: 2rem }';
  const head = `<title>Sample application</title><link rel="icon" href="data:,"><style>${style}</style><h1>Sample application</h1>`;
  response.end(`<!doctype html><html lang="en">${head}<p>${body}</p>${link}</html>`);
}

function redirect(response, location, session) {
  const cookie = session && { 'set-cookie': `session=${session}; HttpOnly; SameSite=Lax; Path=/` };
  response.writeHead(303, { location, ...cookie }).end();
}

const routes = {
  ...{ 'GET /': home, 'GET /sign-in': signIn, 'POST /sign-out': signOut, [`GET ${callbackPath}`]: callback },
  ...{ 'POST /payments': createPayment, 'POST /webhooks': receive, 'GET /events': follow },
};
const server = createServer(async (request, response) => {
  const route = routes[`${request.method} ${new URL(request.url, origin).pathname}`];
  if (!route) return page(response, 404, 'There is no such page.');
  await Promise.resolve(route(request, response)).catch((error) => page(response, 502, html(error.message)));
});
server.on('error', ({ code }) => console.log(`The sample application cannot listen on ${origin} (${code}).`));
server.listen(Number(port || 80), hostname, () => console.log(`The sample application listens on ${origin}`));
