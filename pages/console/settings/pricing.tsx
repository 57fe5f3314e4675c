import type { ReactNode } from 'react';
import { type BodyOf, callOperator } from '../../data/operator-api.ts';
import { Facts } from '../../design/facts.tsx';
import { useText } from '../../texts/text.tsx';
import { SettingAct } from '../acts/setting-act.tsx';
import { Spreads } from '../clients/money.tsx';
import { ALL_PRICING_FIELDS } from './fields.ts';
import { Part } from './part.tsx';

/** The pricing of clients without their own. */
export function PricingPart(): ReactNode {
  const t = useText();
  return (
    <Part
      title="console.word.pricing"
      read={async (signal) => (await callOperator('GET /pricing', { signal })).body}
      acts={(pricing) => (
        <SettingAct
          name={t('console.act.setPricing')}
          scope="feed"
          facts={[]}
          fields={ALL_PRICING_FIELDS}
          values={pricing}
          sends="replace"
          save={(body, { headers }) => callOperator('PUT /pricing', { body: body as BodyOf<'PUT /pricing'>, headers })}
        />
      )}
    >
      {(pricing) => (
        <>
          <Facts
            facts={[
              { name: t('console.pricing.seconds'), value: pricing.quote_seconds },
              { name: t('console.pricing.spread'), value: pricing.default_spread_bps },
              {
                name: t('console.pricing.age'),
                value: pricing.rate_max_age_seconds === 0 ? t('console.pricing.noAge') : pricing.rate_max_age_seconds,
              },
            ]}
          />
          {pricing.spreads.length > 0 && <Spreads spreads={pricing.spreads} />}
        </>
      )}
    </Part>
  );
}
