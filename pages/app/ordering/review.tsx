import { type ReactNode, useEffect, useRef } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Reviewed } from '../../data/ordering.ts';
import { addDecimals } from '../../data/sums.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Facts } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Iban } from '../../design/iban.tsx';
import { Day, formatDay } from '../../design/moment.tsx';
import { formatMoney, Money } from '../../design/money.tsx';
import { Failure } from '../../design/states.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useLocale, useText } from '../../texts/text.tsx';
import { PaymentLink } from '../payments/payment-link.tsx';
import type { Draft, Line, Source } from './draft.ts';
import { Price } from './price.tsx';
import type { Review } from './use-order.ts';

interface OrderReviewProps {
  draft: Draft;
  source: Source | undefined;
  review: Review;
  isPending: boolean;
  error: Error | null;
  onBack: () => void;
  onRenew: () => void;
  onCreate: () => void;
}

/** The whole order once more, for a last check before it is sent. */
export function OrderReview(props: OrderReviewProps): ReactNode {
  const { draft, source, review, isPending, error, onBack, onRenew, onCreate } = props;
  const t = useText();
  const locale = useLocale();
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  const { rows, offer } = review;
  const total = addDecimals(rows.map((row) => decimal(row, 'amount')));
  const currency = rows[0]?.payment_currency ?? '';
  return (
    <>
      <section className="card stack" aria-labelledby="order-review">
        <h2 id="order-review" tabIndex={-1} ref={head}>
          {t('order.review')}
        </h2>
        <Facts
          facts={[
            {
              name: t('order.from'),
              value:
                source &&
                t(`order.from.${source.kind}`, {
                  ...{ id: source.id, currency: source.currency },
                  available: formatMoney(source.available, source.currency, locale),
                }),
            },
            {
              name: t('order.reason'),
              value: draft.reason && t(`payees.reason.${draft.reason}` as TextKey),
            },
            // A single payment says its amount itself.
            ...(rows.length > 1
              ? [
                  {
                    name: t('order.total', { count: rows.length }),
                    value: (
                      <strong>
                        <Money amount={total} currency={currency} />
                      </strong>
                    ),
                  },
                ]
              : []),
          ]}
        />
        {offer && <Price offer={offer} onRenew={onRenew} />}
      </section>
      {rows.map((row, index) => (
        <ReviewedPayment
          // biome-ignore lint/suspicious/noArrayIndexKey: a payment is its place
          key={index}
          row={row}
          line={draft.lines[index]}
          place={rows.length > 1 ? index + 1 : undefined}
        />
      ))}
      {error && <Failure error={error} />}
      <div className="row">
        <Button onPress={onBack}>{t('design.back')}</Button>
        <Button kind="primary" isPending={isPending} onPress={onCreate}>
          {t('order.create')}
        </Button>
      </div>
    </>
  );
}

function ReviewedPayment({
  row,
  line,
  place,
}: {
  row: Reviewed;
  line: Line | undefined;
  place: number | undefined;
}): ReactNode {
  const t = useText();
  const payee = line?.payee;
  const asked = line?.date || line?.first;
  const { iban, account_number: number } = payee ?? {};
  return (
    <section className="card stack" aria-label={t('order.line', { place: place ?? 1 })}>
      {place !== undefined && <h3>{t('order.line', { place })}</h3>}
      <Duplicates of={row.duplicates} />
      <Facts
        facts={[
          {
            name: t('payments.field.amount'),
            value: (
              <strong>
                <Money amount={decimal(row, 'amount')} currency={row.payment_currency} />
              </strong>
            ),
          },
          {
            name: t('payments.field.payee'),
            value: (
              <>
                <ForeignText>{payee?.name}</ForeignText>
                <div className="small quiet">{iban ? <Iban>{iban}</Iban> : <ForeignText>{number}</ForeignText>}</div>
              </>
            ),
          },
          { name: t('payments.field.payment_date'), value: <DayOf row={row} asked={asked} /> },
          { name: t('payments.field.reference'), value: <ForeignText>{row.reference}</ForeignText> },
          {
            name: t('payments.field.charges'),
            value: t(row.charges === 'OUR' ? 'order.charges.OUR' : 'order.charges.SHA'),
          },
          { name: t('payments.approvals'), value: <Approvers row={row} /> },
        ]}
      />
    </section>
  );
}

/** The day on which it leaves, and the day that was asked for. */
function DayOf({ row, asked }: { row: Reviewed; asked: string | undefined }): ReactNode {
  const t = useText();
  const locale = useLocale();
  return (
    <>
      <Day on={row.payment_date} />
      {asked && asked !== row.payment_date && (
        <p className="small">{t('order.day.instead', { day: formatDay(asked, locale) })}</p>
      )}
    </>
  );
}

/** Who will have to approve it. */
function Approvers({ row }: { row: Reviewed }): ReactNode {
  const t = useText();
  const { approvals_needed: count, approved_by_creator: isOwn, approvers } = row;
  if (isOwn) return t('order.approvals.own');
  if (count === 0) return t('order.approvals.none');
  return (
    <>
      <p>{t('order.approvals.count', { count })}</p>
      <p>
        {t('payments.approvals.can')}:{' '}
        {approvers.length === 0 ? t('payments.approvals.noOne') : <ForeignText>{approvers.join(', ')}</ForeignText>}
      </p>
    </>
  );
}

/** Warns that it may duplicate an earlier payment. */
function Duplicates({ of }: { of: Reviewed['duplicates'] }): ReactNode {
  const t = useText();
  if (of.length === 0) return null;
  const made = of.filter((id) => id !== null);
  return (
    <div className="notice warn stack tight">
      <p>
        <Badge tone="warn">{t('order.duplicate')}</Badge>
      </p>
      <p>{t(made.length > 0 ? 'order.duplicate.made' : 'order.duplicate.here')}</p>
      {made.length > 0 && (
        <p className="row">
          {made.map((id) => (
            <PaymentLink key={id} id={id} />
          ))}
        </p>
      )}
    </div>
  );
}
