import { Type } from 'typebox';
import { TRADE_STATUSES, TRADE_TYPES } from '../../exchange/trade.ts';
import { PAYMENT } from '../../payments/declaration.ts';
import { Nullable } from '../../values/schemas.ts';

/** What notifications carry (the service interface, Payment, BookedTrade, Transaction and Events). */

/** A Payment as clients see it. */
export const Payment = Type.Object(PAYMENT.shown, { title: 'Payment', examples: [PAYMENT.example] });

const text = (description: string) => Nullable(Type.String({ description }));
const moment = (description: string) => Type.String({ format: 'date-time', description });

export const TRADE_EXAMPLE = {
  trade_id: 'TRD000001',
  parent_trade_id: null,
  status: 'Created',
  trade_type: 'spot',
  rate_symbol: 'GBPEUR',
  rate: 1.17,
  buy_currency: 'EUR',
  sell_currency: 'GBP',
  buy_amount: 1170,
  sell_amount: 1000,
  fee_amount: null,
  fee_currency: null,
  order_date: '2026-07-01',
  maturity_date: '2026-07-03T00:00:00+01:00',
  reference: null,
  synthetic: false,
  trade_receipt: 'https://api.example.com/documents?type=tr&id=TRD000001&client_id=CLI000001',
  beneficiaries: ['BEN000001'],
};

const TradeProperties = {
  trade_id: Type.String({ description: 'Unique identifier of the trade' }),
  parent_trade_id: text('The trade that a drawdown draws on'),
  status: Type.Enum([...TRADE_STATUSES]),
  trade_type: Type.Enum([...TRADE_TYPES]),
  rate_symbol: Type.String({ description: 'Pair, sold currency first' }),
  rate: Type.Number({ description: 'Units of the bought currency for one unit of the sold one' }),
  buy_currency: Type.String({ description: 'Currency that is bought' }),
  sell_currency: Type.String({ description: 'Currency that is sold' }),
  buy_amount: Type.Number({ description: 'Amount that is bought' }),
  sell_amount: Type.Number({ description: 'Amount that is sold' }),
  fee_amount: Nullable(Type.Number({ description: 'Fee amount' })),
  fee_currency: text('Fee currency'),
  order_date: Type.String({ format: 'date', description: 'Day of the order' }),
  maturity_date: Nullable(moment('Maturity')),
  reference: text('Reference'),
  synthetic: Type.Boolean(),
  trade_receipt: Type.String({ format: 'uri', description: 'Location to download the trade receipt' }),
  beneficiaries: Type.Array(Type.Unknown(), { description: 'The beneficiaries of its payments' }),
};

/** A trade as notifications carry it. */
export const Trade = Type.Object(TradeProperties, { title: 'Trade', examples: [TRADE_EXAMPLE] });

export const TRANSACTION_EXAMPLE = {
  transaction_id: '3f0e1d8c-52c8-4b0e-9d9f-6a1c2b7e4d55',
  account_id: '1',
  transaction_reference: 'Invoice 42',
  transaction_information: null,
  additional_transaction_information: null,
  amount: { amount: '1500.00', currency: 'EUR' },
  balance: {
    amount: { amount: '2750.50', currency: 'EUR' },
    type: 'InterimAvailable',
    credit_debit_indicator: 'Credit',
  },
  credit_debit_indicator: 'Credit',
  status: 'Booked',
  booking_datetime: '2026-07-01T10:15:00+01:00',
  value_datetime: '2026-07-01T10:15:00+01:00',
  creditor_name: null,
  creditor_account: null,
  debtor_name: 'Müller GmbH',
  debtor_account: null,
};

export const onboardingExample = (brand: string) => ({
  type: 'client',
  links: { self: 'https://api.example.com/onboarding-events/CLI000001?client_id=CLI000001' },
  id: 'CLI000001',
  attributes: {
    OnboardingStatus: 'Active',
    AccountNumber: '10001',
    [`${brand}Id`]: 'CLI000001',
    BecameClient: '2026-07-01',
  },
});

/** A change of the client's onboarding. The brand word names one of its attributes. */
export const OnboardingEvent = (brand: string) =>
  Type.Object(
    {
      type: Type.String(),
      links: Type.Object({ self: Type.String() }),
      id: Type.String(),
      attributes: Type.Object({
        OnboardingStatus: Type.String(),
        AccountNumber: text('The institution’s number for the client'),
        [`${brand}Id`]: Type.String(),
        BecameClient: text('When it became a client, YYYY-MM-DD'),
      }),
    },
    { title: 'OnboardingEvent', examples: [onboardingExample(brand)] },
  );
