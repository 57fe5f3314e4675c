// The page of the query explorer. The token is a variable of this page and is written nowhere else.
import { createRoot, React, Ruru } from '/explorer/ruru/ruru.js';

const ENDPOINT = '/webhooks/graphql';
const MAX_EVENTS = 200;
const WORKERS = { json: 'jsonWorker.js', graphql: 'graphqlWorker.js' };

const QUERY = `# The subscriptions of the client, newest first, with what was sent lately.
query Subscriptions {
  subscriptions(first: 10, orderBy: CREATED_AT_DESC) {
    totalCount
    nodes {
      id
      url
      active
      types
      notifications(first: 5, orderBy: CREATED_AT_DESC) {
        totalCount
        nodes {
          id
          type
          status
          createdAt
          attempts {
            totalCount
            nodes {
              attemptNumber
              startedAt
              statusCode
              reason
            }
          }
        }
      }
    }
  }
}
`;

const element = (id) => document.getElementById(id);
let token = '';
let client = '';
let stream;

globalThis.MonacoEnvironment = {
  getWorker: (_module, label) =>
    new Worker(`/explorer/ruru/${WORKERS[label] ?? 'editorWorker.js'}`, { type: 'module' }),
};

function say(text, bad = false) {
  element('state').textContent = text;
  element('state').classList.toggle('bad', bad);
}

// The editor asks without a token; here it gets one, and only what goes to the endpoint does. It would follow the event stream
// without one, too, which is refused: so it does not learn of the stream.
const plainFetch = globalThis.fetch.bind(globalThis);
globalThis.fetch = async (resource, init = {}) => {
  const { pathname, origin } = new URL(resource instanceof Request ? resource.url : resource, location.href);
  if (origin !== location.origin || pathname !== ENDPOINT) return plainFetch(resource, init);
  if (!token) return Response.json({ errors: [{ message: 'Paste an access token and a client_id above first.' }] });
  const answer = await ask(init.body, init.signal);
  return new Response(answer.body, { status: answer.status, headers: { 'content-type': 'application/json' } });
};

function ask(body, signal) {
  return plainFetch(ENDPOINT, {
    method: 'POST',
    body,
    signal,
    headers: { 'content-type': 'application/json', ...identity() },
  });
}

function identity() {
  return token ? { authorization: `Bearer ${token}`, 'x-client-id': client } : {};
}

createRoot(element('explorer')).render(
  React.createElement(Ruru, {
    endpoint: ENDPOINT,
    defaultQuery: QUERY,
    isHeadersEditorEnabled: false,
    showPersistHeadersSettings: false,
    debugTools: [],
  }),
);

/** The editor reads the schema when it is drawn, and again when its button is pressed: with a token there is one to read. */
function readSchema() {
  document.querySelector('[aria-label^="Re-fetch"]')?.click();
}

async function use() {
  token = element('token').value.trim();
  client = element('client').value.trim();
  stopFollowing();
  if (!token || !client) {
    say('Both the token and the client_id are needed.', true);
    return false;
  }
  const response = await ask(JSON.stringify({ query: '{ subscriptions { totalCount } }' }));
  const answer = await response.json();
  if (!response.ok) {
    say(`${response.status}: ${answer.details ?? answer.errors?.[0]?.message}`, true);
    return false;
  }
  say(`Client ${client}: ${answer.data.subscriptions.totalCount} subscriptions.`);
  readSchema();
  return true;
}

function stopFollowing() {
  stream?.abort();
  stream = undefined;
  element('follow').setAttribute('aria-pressed', 'false');
}

/** Reads the event stream that the endpoint names in X-GraphQL-Event-Stream. */
async function follow() {
  if (stream) {
    stopFollowing();
    return;
  }
  if (!token && !(await use())) return;
  const reading = new AbortController();
  stream = reading;
  element('follow').setAttribute('aria-pressed', 'true');
  element('events').hidden = false;
  try {
    const named = await ask(JSON.stringify({ query: '{ webhookTypes }' }));
    const path = named.headers.get('x-graphql-event-stream');
    const response = await plainFetch(path, { headers: identity(), signal: reading.signal });
    if (!response.ok) throw new Error(`${response.status}: ${(await response.json()).details}`);
    let rest = '';
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + text).split('\n\n');
      rest = parts.pop();
      for (const part of parts) show(part);
    }
    say('The event stream has ended.', true);
  } catch (error) {
    if (!reading.signal.aborted) say(`The event stream has ended: ${error.message}`, true);
  }
  if (stream === reading) stopFollowing();
}

function show(text) {
  const event = /^event: (.*)$/m.exec(text)?.[1];
  if (!event) return;
  const item = document.createElement('li');
  item.textContent = `${event} ${/^data: (.*)$/m.exec(text)?.[1] ?? ''}`;
  const list = element('list');
  list.prepend(item);
  while (list.children.length > MAX_EVENTS) list.lastChild.remove();
}

element('connect').addEventListener('click', () => use().catch((error) => say(error.message, true)));
element('follow').addEventListener('click', () => follow());
for (const id of ['token', 'client']) {
  element(id).addEventListener('keydown', (event) => {
    if (event.key === 'Enter') element('connect').click();
  });
}
