import type { Command } from 'commander';
import {
  decimal,
  type NewDrawdown,
  type NewQuote,
  type NewTrade,
  type Trade,
  type TradeQuery,
} from '../../sdk/src/index.ts';
import { REASONS } from '../values/reasons.ts';
import {
  type BodyOptions,
  bodyGiven,
  type Fields,
  fieldsGiven,
  PAGING,
  printPage,
  withBody,
  withFields,
  withKey,
} from './fields.ts';
import { example, type Frame } from './frame.ts';
import type { Column } from './printer.ts';

/** The fields of a quote request, under their API names. */
const QUOTE_FIELDS: Fields<keyof NewQuote> = {
  amount: { about: 'how much of the fixed side', as: 'number' },
  operation: { about: 'which side is fixed', choices: ['buy', 'sell'] },
  buy_currency: { about: 'currency that is bought, as EUR' },
  sell_currency: { about: 'currency that is sold, as GBP' },
  trade_type: { about: 'spot by default', choices: ['spot', 'forward'] },
  value_date: { about: 'when it settles, YYYY-MM-DD; as early as possible by default' },
};

const ORDER = {
  reason: { about: 'why, as payment_for_goods', choices: REASONS },
  reference: { about: 'shown with the trade' },
  external_reference_id: { about: 'your own identifier; no two trades have the same' },
  funding_account_id: { about: 'number of the currency account that pays for it', as: 'integer' },
} as const satisfies Fields;
const TRADE_FIELDS: Fields<Exclude<keyof NewTrade, 'trade_type'>> = ORDER;
const DRAWDOWN_FIELDS: Fields<keyof NewDrawdown> = {
  buy_amount: { about: 'how much of the bought currency', as: 'number' },
  ...ORDER,
  value_date: { about: 'when it settles, YYYY-MM-DD; as early as possible by default' },
};

/** The filters of the list, under their API names. */
const FILTERS: Fields<keyof TradeQuery> = {
  trade_type: { about: 'types, comma separated' },
  status: { about: 'statuses, comma separated' },
  parent_trade_id: { about: 'drawdowns of this trade' },
  buy_currency: { about: 'currency that is bought' },
  external_reference_id: { about: 'your own identifier' },
  mass_payment_id: { about: 'the mass payment that it was booked for' },
  ...PAGING,
};

const COLUMNS: Column<Trade>[] = [
  ['TRADE', ({ trade_id: id }) => id],
  ['STATUS', ({ status }) => status],
  ['TYPE', ({ trade_type: type }) => type],
  ['BUY', (trade) => decimal(trade, 'buy_amount')],
  ['', ({ buy_currency: currency }) => currency],
  ['SELL', (trade) => decimal(trade, 'sell_amount')],
  ['', ({ sell_currency: currency }) => currency],
];

/** `lombard quotes` and `trades`. */
export function exchangeCommands(frame: Frame): void {
  const quotes = frame.program.command('quotes').description('what an exchange costs');
  const get = withKey(withBody(quotes.command('get').description('ask for a rate that can be booked'), QUOTE_FIELDS));
  get.option('--estimate', 'only what it would cost: nothing is promised');
  const pair = '--amount 1000 --operation sell --sell-currency GBP --buy-currency EUR';
  example(get, `quotes get ${pair}`, `quotes get --estimate ${pair}`);
  frame.asContact<BodyOptions & { estimate?: boolean }>(get, async ({ options, session, print }) => {
    const body = { trade_type: 'spot', ...(await bodyGiven(QUOTE_FIELDS, options)) } as NewQuote;
    const asked = session.lombard.quotes;
    const { estimate, idempotencyKey } = options;
    print.record(await (estimate ? asked.estimate(body) : asked.create(body, { idempotencyKey })));
  });
  const trades = frame.program.command('trades').description('exchanges that were booked');
  addOrders(frame, trades);
  const list = withFields(trades.command('list').description('list the trades; the options are filters'), FILTERS);
  frame.asContact(example(list, 'trades list --status Created'), async ({ options, session: { lombard }, print }) => {
    const query = fieldsGiven(FILTERS, options) as TradeQuery;
    await printPage(print, lombard.trades.list(query), query, COLUMNS, 'trades');
  });
  const show = trades.command('show <id>').description('show one trade');
  frame.asContact(example(show, 'trades show TRD000001'), async ({ args: [id = ''], session, print }) =>
    print.record(await session.lombard.trades.get(id)),
  );
  const funds = trades.command('funds <id>').description('show what is left of a trade');
  frame.asContact(example(funds, 'trades funds TRD000001'), async ({ args: [id = ''], session, print }) =>
    print.record(await session.lombard.trades.funds(id)),
  );
}

function addOrders(frame: Frame, trades: Command): void {
  const book = withKey(withBody(trades.command('book <quote>').description('book an open quote'), TRADE_FIELDS));
  example(book, 'trades book 0123456789abcdef0123456789abcdef --reason payment_for_goods');
  frame.asContact<BodyOptions>(book, async ({ args: [quote = ''], options, session, print }) => {
    const body = (await bodyGiven(TRADE_FIELDS, options)) as NewTrade;
    const made = await session.lombard.trades.book(quote, body, { idempotencyKey: options.idempotencyKey });
    print.done(`booked trade ${made.trade_id}`, made);
  });
  const draw = withKey(
    withBody(trades.command('drawdown <id>').description('draw down a part of a window forward'), DRAWDOWN_FIELDS),
  );
  example(draw, 'trades drawdown TRD000001 --buy-amount 2500 --reason payment_for_goods');
  frame.asContact<BodyOptions>(draw, async ({ args: [id = ''], options, session, print }) => {
    const body = (await bodyGiven(DRAWDOWN_FIELDS, options)) as NewDrawdown;
    const made = await session.lombard.trades.drawdown(id, body, { idempotencyKey: options.idempotencyKey });
    print.done(`booked trade ${made.trade_id}`, made);
  });
}
