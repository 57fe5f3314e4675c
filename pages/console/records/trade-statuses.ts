/** The statuses of a trade, in their order. */
export const TRADE_STATUSES = [
  ...(['Created', 'Funds In Partially', 'Funds In Full', 'Funds Out Partially Allocated'] as const),
  ...(['Funds Out Full Allocated', 'Closed', 'Cancelled', 'Rejected'] as const),
] as const;
