import { Type } from 'typebox';
import { BOOKED_TRADE, TRADE } from '../../exchange/trade-declaration.ts';
import { PAYMENT } from '../../payments/declaration.ts';
import { Nullable } from '../../values/schemas.ts';

/** The payloads of notifications (service interface, Payment, BookedTrade, Transaction and Events). */

/** A Payment in the form that clients see. */
export const Payment = Type.Object(PAYMENT.shown, { title: 'Payment', examples: [PAYMENT.example] });

const text = (description: string) => Nullable(Type.String({ description }));

export const TRADE_EXAMPLE = Object.fromEntries(
  Object.entries(TRADE.example).filter(([name]) => name in BOOKED_TRADE.properties),
);

/** A trade in the form that notifications carry. */
export const Trade = Type.Object(BOOKED_TRADE.properties, { title: 'Trade', examples: [TRADE_EXAMPLE] });

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

/** A change of the client's onboarding. The brand word is part of the name of one of its attributes. */
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
