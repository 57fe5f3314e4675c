/**
 * A firm quote and its booking, through the whole service. The floor is the minimum of statements that each needs, sent by the bare driver
 * in three groups. Also measures the list of trades, with few and with many. `npm run bench -- exchange [seconds] [trades]`;
 * docs/performance.md has the numbers.
 */
import pg from 'pg';
import { type Measured, measure } from './load/lanes.ts';
import { CLIENT, type Ordering, startOrdering } from './load/ordering.ts';

const LANES = 8;
const SECONDS = 5;
const ROUNDS = 3;
const TRADES = 200_000;

type Ask = (name: string, text: string, values: unknown[]) => Promise<pg.QueryResult>;

export async function run([seconds = `${SECONDS}`, trades = `${TRADES}`]: string[]): Promise<void> {
  const ordering = await startOrdering({ LOMBARD_BENCH_PRODUCTION: 'yes' });
  const { client, clocks, url } = ordering;
  try {
    const lanes = { seconds: Number(seconds), lanes: LANES };
    const wanted = {
      ...{ buy_currency: 'EUR', sell_currency: 'GBP', operation: 'buy' },
      amount: 100,
      trade_type: 'spot',
    };
    const quoteAndBook = async () => {
      const { quote_id: id } = await client('POST', '/quotes?quote_type=quote', wanted);
      await client('POST', `/trades?quote_id=${id}`, { reason: 'other' });
    };
    await measure({ ...lanes, seconds: 2 }, clocks, quoteAndBook);
    print('| | a second | p50, p99 ms | program ms each | PostgreSQL ms each | rate, of the floor’s |');
    print('|---|---|---|---|---|---|');
    for (let round = 0; round < ROUNDS; round += 1) {
      const floor = await floorOf(ordering, url, lanes);
      row('floor: quote and booking', floor, floor);
      row('a quote and its booking', await measure(lanes, clocks, quoteAndBook), floor);
    }
    print('');
    print('| GET /trades | p50, p99 ms |');
    print('|---|---|');
    const list = () => client('GET', '/trades?page_size=100');
    const alone = { seconds: 2, lanes: 1 };
    const few = await measure(alone, clocks, list);
    print(`| with ${(await ordering.db.query('select 1 from trades')).rowCount} | ${times(few)} |`);
    await fill(ordering, Number(trades));
    print(`| with ${trades} more | ${times(await measure(alone, clocks, list))} |`);
  } finally {
    await ordering.stop();
  }
}

/** The statements of a quote and its booking by the bare driver: opening, the work, and the audit trail with the commit. */
async function floorOf(
  { clocks: { server }, contactId, gbp }: Ordering,
  url: string,
  lanes: { seconds: number; lanes: number },
): Promise<Measured> {
  const clients = await Promise.all(
    Array.from({ length: lanes.lanes }, async () => {
      const client = new pg.Client({ connectionString: url, pipeline: true });
      await client.connect();
      return client;
    }),
  );
  const program = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  const idle = [...clients];
  try {
    return await measure(lanes, { program, server }, async () => {
      const client = idle.pop() as pg.Client;
      const ask: Ask = (name, text, values) => client.query({ name, text, values });
      const quote = crypto.randomUUID().replaceAll('-', '');
      await quoteBare(client, ask, { quote, contactId });
      await bookBare(client, ask, { quote, contactId, gbp });
      idle.push(client);
    });
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

const begin = (client: pg.Client, ask: Ask, contactId: string) => [
  client.query('begin'),
  ask('right', 'select can_trade from contact_clients where client_id = $1 and contact_id = $2', [CLIENT, contactId]),
];

/** What every change leaves: its audit row, its version, and its entry in the feed. */
const trail = (client: pg.Client, ask: Ask, entity: string, id: string, record: string) => [
  ask(
    'audit',
    `insert into audit (at, actor, request_id, action, entity, entity_id, client_id, after)
       values (now(), 'contact:bench', 'floor', 'create', $1, $2, $3, $4::json)`,
    [entity, id, CLIENT, record],
  ),
  ask(
    'version',
    `insert into change_versions as v (entity, entity_id, version) values ($1, $2, 1)
       on conflict (entity, entity_id) do update set version = v.version + 1 returning version`,
    [entity, id],
  ),
  ask(
    'change',
    `with taken as (insert into changes_unpublished (changes, at) values (1, now()) returning batch)
     insert into changes (batch, place, changes, client_ids, entities, body)
       select batch, 0, 1, array[$1], array[$2], $3 from taken`,
    [CLIENT, entity, record],
  ),
  client.query('commit'),
];

async function quoteBare(
  client: pg.Client,
  ask: Ask,
  { quote, contactId }: { quote: string; contactId: string },
): Promise<void> {
  await Promise.all(begin(client, ask, contactId));
  await ask(
    'open',
    'select expires_at from quotes where client_id = $1 and contact_id = $2 and trade_id is null limit 20',
    [CLIENT, 'nobody'],
  );
  await Promise.all([
    ask(
      'quote',
      `insert into quotes (quote_id, client_id, contact_id, trade_type, operation, rate, inverse_rate, buy_amount, buy_currency,
         sell_amount, sell_currency, value_date, maturity_date, created_at, expires_at, mid, spread_bps, rate_as_of)
       values ($1, $2, $3, 'spot', 'buy', 1.16, 0.862, 100, 'EUR', 86.21, 'GBP', current_date + 2, now(), now(), now() + interval '1 min',
         1.17, 50, now())`,
      [quote, CLIENT, contactId],
    ),
    ...trail(
      client,
      ask,
      'quote',
      quote,
      JSON.stringify({ quote_id: quote, client_id: CLIENT, rate: 1.16, amount: 100 }),
    ),
  ]);
}

async function bookBare(
  client: pg.Client,
  ask: Ask,
  { quote, contactId, gbp }: { quote: string; contactId: string; gbp: number },
): Promise<void> {
  await Promise.all(begin(client, ask, contactId));
  await Promise.all([
    ask('quote-lock', 'select * from quotes where client_id = $1 and quote_id = $2 for no key update', [CLIENT, quote]),
    ask('account', 'select balance, held from currency_accounts where client_id = $1 and account_id = $2', [
      CLIENT,
      gbp,
    ]),
  ]);
  const record = JSON.stringify({ trade_id: quote, client_id: CLIENT, buy_amount: 100, sell_amount: 86.21 });
  await Promise.all([
    ask('used', 'update quotes set trade_id = $2 where client_id = $1 and quote_id = $2', [CLIENT, quote]),
    ask(
      'trade',
      `insert into trades (trade_id, client_id, contact_id, trade_type, status, buy_currency, sell_currency, buy_amount, sell_amount, rate,
           rate_symbol, order_date, synthetic, created_at)
         values ($1, $2, $3, 'spot', 'Created', 'EUR', 'GBP', 100, 86.21, 1.16, 'GBPEUR', current_date, false, now())`,
      [quote, CLIENT, contactId],
    ),
    ask(
      'event',
      `with event as (insert into webhook_events (client_id, type, body, created_at)
         values ($1, 'TRADE_STATUS_CHANGE', $2, now()) returning id, client_id, type, created_at)
       insert into webhook_outbox (event_id, client_id, type, created_at) select id, client_id, type::webhook_type, created_at from event`,
      [CLIENT, record],
    ),
    ...trail(client, ask, 'trade', quote, record),
  ]);
}

/** Copies a trade of the client many times. */
async function fill({ db }: Ordering, count: number): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_name = 'trades' and table_schema = current_schema() and is_identity = 'NO' and is_generated = 'NEVER'`,
  );
  const names = rows.map(({ name }) => name);
  const values = names.map((name) => (name === 'trade_id' ? "'H' || n" : `r.${name}`));
  await db.query("set session_replication_role = 'replica'");
  await db.query(
    `insert into trades (${names.join(', ')}) select ${values.join(', ')} from generate_series(1, ${count}) n,
       (select * from trades where client_id = $1 order by created_at limit 1) r`,
    [CLIENT],
  );
  await db.query("set session_replication_role = 'origin'");
  await db.query(
    `insert into trade_total_deltas (client_id, trade_type, status, buy_currency, n)
     select client_id, trade_type, status, buy_currency, count(*) from trades where client_id = $1 and trade_id like 'H%' group by 1, 2, 3, 4`,
    [CLIENT],
  );
  await db.query('vacuum analyze');
}

function row(name: string, { rate, p50, p99, program, server }: Measured, floor: Measured): void {
  print(
    `| ${name} | ${rate.toFixed(0)} | ${p50.toFixed(1)}, ${p99.toFixed(1)} | ${program.toFixed(2)} | ${server.toFixed(2)} | ` +
      `${(rate / floor.rate).toFixed(2)} |`,
  );
}

const times = ({ p50, p99 }: Measured) => `${p50.toFixed(1)}, ${p99.toFixed(1)}`;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
