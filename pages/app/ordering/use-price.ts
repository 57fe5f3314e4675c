import { useEffect, useState } from 'react';
import { askPrice, type Offer, type WantedExchange } from '../../data/quotes.ts';

/** An exchange is priced once it has not changed for this long, because people are typing. */
const PAUSE_MS = 700;

interface Price {
  offer: Offer | undefined;
  error: unknown;
  isPending: boolean;
  renew: () => void;
}

/** The price of the exchange that an order needs. It is requested again when the exchange changes, not when the price expires. */
export function usePrice(clientId: string, wanted: WantedExchange | undefined): Price {
  const key = wanted && JSON.stringify(wanted);
  const [found, setFound] = useState<{ key: string; offer?: Offer; error?: unknown }>();
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    if (key === undefined) return;
    let isOver = false;
    const timer = setTimeout(
      () => {
        askPrice(clientId, JSON.parse(key) as WantedExchange, crypto.randomUUID()).then(
          (offer) => !isOver && setFound({ key, offer }),
          (error: unknown) => !isOver && setFound({ key, error }),
        );
      },
      asked === 0 ? PAUSE_MS : 0,
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [clientId, key, asked]);
  const own = found?.key === key ? found : undefined;
  return {
    offer: own?.offer,
    error: own?.error,
    isPending: key !== undefined && !own,
    renew: () => {
      setFound(undefined);
      setAsked(asked + 1);
    },
  };
}
