/**
 * A firm quote and its booking, each through the whole service. The floor of each is the statements that the service sends for it, sent by
 * the bare driver in the same groups. Also measures the list of trades, with few and with many.
 * `npm run bench -- exchange [seconds] [trades]`; docs/performance-orders.md has the numbers.
 */
import pg from 'pg';
import { type Clocks, type Measured, measure } from './load/lanes.ts';
import { CLIENT, type Ordering, startOrdering } from './load/ordering.ts';
import { type Sent, sendAgain, transactionsOf } from './load/recording.ts';

const LANES = 8;
/** Quotes that are open at once. */
const OPEN = 16;
const SECONDS = 5;
const ROUNDS = 3;
const TRADES = 200_000;

/** A quote, and its booking. */
interface Calls {
  /** @returns its identifier */
  quote: () => Promise<string>;
  book: (quoteId: string) => Promise<void>;
}

export async function run([seconds = `${SECONDS}`, trades = `${TRADES}`]: string[]): Promise<void> {
  const ordering = await startOrdering({ LOMBARD_BENCH_PRODUCTION: 'yes', LOMBARD_BENCH_RECORDED: 'yes' });
  const { client, clocks } = ordering;
  try {
    const wanted = { buy_currency: 'EUR', sell_currency: 'GBP', operation: 'buy', amount: 100, trade_type: 'spot' };
    const service: Calls = {
      quote: async () => (await client('POST', '/quotes?quote_type=quote', wanted)).quote_id,
      book: (id) => client('POST', `/trades?quote_id=${id}`, { reason: 'other' }) as Promise<void>,
    };
    await measureBoth(2, clocks, service);
    const bare = await startBare(ordering, service);
    await measureBoth(1, bare.clocks, bare.calls);
    print('| | a second | program ms each | PostgreSQL ms each | rate, of the floor’s |');
    print('|---|---|---|---|---|');
    for (let round = 0; round < ROUNDS; round += 1) {
      const floor = await measureBoth(Number(seconds), bare.clocks, bare.calls);
      const whole = await measureBoth(Number(seconds), clocks, service);
      for (const call of ['quote', 'booking'] as const) {
        row(`floor: a ${call}`, floor[call], floor[call]);
        row(`a ${call}`, whole[call], floor[call]);
      }
    }
    await bare.stop();
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

/** What one kind of call cost. */
type Cost = Pick<Measured, 'rate' | 'program' | 'server'>;

/**
 * Makes quotes on some lanes, and then books them, again and again: a contact has at most 20 open. Each kind is measured by itself.
 * @param seconds for which it goes on
 */
async function measureBoth(
  seconds: number,
  { program, server }: Clocks,
  { quote, book }: Calls,
): Promise<{ quote: Cost; booking: Cost }> {
  const spent = { quote: { wall: 0, program: 0, server: 0 }, booking: { wall: 0, program: 0, server: 0 } };
  const clocked = async (kind: keyof typeof spent, work: Promise<unknown>[]) => {
    const [began, programBefore, serverBefore] = [performance.now(), program(), server()];
    await Promise.all(work);
    spent[kind].wall += performance.now() - began;
    spent[kind].program += program() - programBefore;
    spent[kind].server += server() - serverBefore;
  };
  let count = 0;
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; count += OPEN) {
    const ids: string[] = [];
    const asking = async () => {
      for (let n = 0; n < OPEN / LANES; n += 1) ids.push(await quote());
    };
    await clocked('quote', Array.from({ length: LANES }, asking));
    const booking = async () => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) await book(id);
    };
    await clocked('booking', Array.from({ length: LANES }, booking));
  }
  const cost = ({ wall, program: own, server: its }: (typeof spent)['quote']) => ({
    rate: (count * 1_000) / wall,
    program: (own * 1_000) / count,
    server: (its * 1_000) / count,
  });
  return { quote: cost(spent.quote), booking: cost(spent.booking) };
}

/** The statements that the service sends for a quote and for its booking, sent by the bare driver in the same groups. */
async function startBare(
  { clocks: { server }, recording, url }: Ordering,
  service: Calls,
): Promise<{ calls: Calls; clocks: Clocks; stop: () => Promise<void> }> {
  let id = '';
  const [quoted = []] = transactionsOf(
    await recording(async () => {
      id = await service.quote();
    }),
  );
  const [booked = []] = transactionsOf(await recording(() => service.book(id)));
  const trade = booked.find(({ name }) => name === 'quote-use')?.values[2] as string;
  const clients = await Promise.all(
    Array.from({ length: LANES }, async () => {
      const client = new pg.Client({ connectionString: url, pipeline: true });
      await client.connect();
      return client;
    }),
  );
  const idle = [...clients];
  const send = async (transaction: readonly Sent[], instead: ReadonlyMap<string, string>) => {
    const client = idle.pop() as pg.Client;
    await sendAgain(client, transaction, instead);
    idle.push(client);
  };
  let trades = 0;
  return {
    calls: {
      quote: async () => {
        const other = crypto.randomUUID().replaceAll('-', '');
        await send(quoted, new Map([[id, other]]));
        return other;
      },
      book: async (other) => {
        trades += 1;
        await send(
          booked,
          new Map([
            [id, other],
            [trade, `F${String(trades).padStart(trade.length - 1, '0')}`],
          ]),
        );
      },
    },
    clocks: {
      program: () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      },
      server,
    },
    stop: async () => void (await Promise.all(clients.map((client) => client.end()))),
  };
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

function row(name: string, { rate, program, server }: Cost, floor: Cost): void {
  const cells = [rate.toFixed(0), program.toFixed(2), server.toFixed(2), (rate / floor.rate).toFixed(2)];
  print(`| ${name} | ${cells.join(' | ')} |`);
}

const times = ({ p50, p99 }: Measured) => `${p50.toFixed(1)}, ${p99.toFixed(1)}`;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
