import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PaymentOutlook } from '../../data/payments.ts';
import { Badge } from '../../design/badge.tsx';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { PaymentLink } from '../payments/payment-link.tsx';

type Setback = PaymentOutlook['setbacks'][number];

/** What went wrong lately, and what cannot go on: payments first, then what else is in the client's way. */
export function WhatWentWrong({ wrong, setbacks }: Pick<PaymentOutlook, 'wrong' | 'setbacks'>): ReactNode {
  const t = useText();
  return (
    <section className="card stack" aria-labelledby="home-wrong">
      <h2 id="home-wrong">{t('home.wrong')}</h2>
      {wrong.length + setbacks.length === 0 ? (
        <p className="quiet">{t('home.wrong.none')}</p>
      ) : (
        <ul className="plain stack">
          {wrong.map(({ payment_id: id, what, amount, payment_currency: currency, beneficiary_name: payee, at }) => (
            <Matter
              key={id}
              title={<PaymentLink id={id} />}
              what={`home.wrong.${what}`}
              isUrgent={what !== 'information'}
              at={at}
            >
              <Money amount={amount} currency={currency} /> · <ForeignText>{payee}</ForeignText>
            </Matter>
          ))}
          {setbacks.map((setback) => (
            <OtherMatter key={setback.kind + setback.id} setback={setback} />
          ))}
        </ul>
      )}
    </section>
  );
}

interface MatterProps {
  title: ReactNode;
  what: TextKey;
  isUrgent: boolean;
  at: string | null;
  children: ReactNode;
}

function Matter({ title, what, isUrgent, at, children }: MatterProps): ReactNode {
  const t = useText();
  return (
    <li className="matter">
      <span className="row apart">
        {title}
        <Badge tone={isUrgent ? 'bad' : 'warn'}>{t(what)}</Badge>
      </span>
      <span className="small quiet">
        {children}
        {at !== null && (
          <>
            {' · '}
            <Moment at={at} isDay />
          </>
        )}
      </span>
    </li>
  );
}

/** Where it can be mended. */
const PLACES = {
  trade: '/trades/$id',
  file: '/files/$id',
  payee: '/payees',
  webhook: '/webhooks',
} as const;

function OtherMatter({
  setback: { kind, id, what, name, amount, currency, count, at },
}: {
  setback: Setback;
}): ReactNode {
  const t = useText();
  const place = PLACES[kind].replace('$id', encodeURIComponent(id));
  return (
    <Matter
      title={
        <Link to={place as never} className="matter-name" title={name === null ? undefined : visible(name)}>
          {name === null ? id : <ForeignText>{name}</ForeignText>}
        </Link>
      }
      what={`home.wrong.${what}`}
      isUrgent={what !== 'rows'}
      at={at}
    >
      {t(`home.wrong.kind.${kind}`)}
      {amount !== null && currency !== null && (
        <>
          {' · '}
          <Money amount={amount} currency={currency} />
        </>
      )}
      {count !== null && count > 0 && ` · ${t('home.wrong.count', { count })}`}
    </Matter>
  );
}
