import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Payment, PaymentView } from '../../data/payments.ts';
import { Badge } from '../../design/badge.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { useRichText, useText } from '../../texts/text.tsx';

type Explanation = PaymentView['explanation'];

/** The rule that applies to a payment, who has acted, and who could act now. */
export function Approvals({ payment, explanation }: Pick<PaymentView, 'payment' | 'explanation'>): ReactNode {
  const t = useText();
  const { authorisations } = payment.approvals_workflow;
  const { next, governed_by: by, can_be_completed: possible, n_eyes_plus_status: status } = explanation;
  const waits = status === 'Pending approval';
  return (
    <section className="card stack" aria-labelledby="payment-approvals">
      <h2 id="payment-approvals">{t('payments.approvals')}</h2>
      <Rule explanation={explanation} />
      {waits && !possible && <p className="notice warn">{t('payments.approvals.impossible')}</p>}
      {by === 'ruleset' && <Levels explanation={explanation} />}
      <div className="stack tight">
        <h3>{t('payments.approvals.acted')}</h3>
        {authorisations.length === 0 && <p className="quiet">{t('payments.approvals.nobody')}</p>}
        <ul className="plain">
          {authorisations.map((each) => (
            <li key={`${each.contact_id} ${each.date}`}>
              <Act act={each} />
            </li>
          ))}
        </ul>
      </div>
      {waits && (
        <div className="stack tight">
          <h3>{t('payments.approvals.can')}</h3>
          {next.length === 0 && <p className="quiet">{t('payments.approvals.noOne')}</p>}
          <ul className="plain">
            {next.map(({ contact_id: id, contact_name: name, actions }) => (
              <li key={id}>
                <ForeignText>{name}</ForeignText>{' '}
                {!actions.includes('authorise') && (
                  <span className="quiet small">{t('payments.approvals.rejectOnly')}</span>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function Rule({ explanation }: { explanation: Explanation }): ReactNode {
  const t = useText();
  const rich = useRichText();
  const {
    governed_by: by,
    approvers_needed: needed,
    rule,
    minimum_remaining_authorisations: left,
    creator,
  } = explanation;
  const waits = explanation.n_eyes_plus_status === 'Pending approval';
  return (
    <div className="stack tight">
      <p>
        {by === 'none' && t('payments.rule.none')}
        {by === 'eyes' && t('payments.rule.eyes', { count: needed ?? 0 })}
        {by === 'ruleset' &&
          rule &&
          rich('payments.rule.ruleset', {
            version: String(rule.version),
            threshold: <Money amount={decimal(rule, 'minimum_threshold')} currency={rule.currency} />,
            amount: <Money amount={decimal(rule, 'converted_amount')} currency={rule.currency} />,
          })}
      </p>
      {waits && <p>{t('payments.rule.left', { count: left })}</p>}
      <p className="quiet small">
        {rich(creator.creation_counts ? 'payments.rule.creator.counts' : 'payments.rule.creator', {
          name: <ForeignText>{creator.contact_name}</ForeignText>,
        })}
      </p>
    </div>
  );
}

function Act({ act }: { act: Payment['approvals_workflow']['authorisations'][number] }): ReactNode {
  const t = useText();
  const approved = act.status === 1;
  return (
    <>
      <Badge tone={approved ? 'good' : 'bad'}>{t(approved ? 'payments.act.approved' : 'payments.act.rejected')}</Badge>{' '}
      <ForeignText>{act.contact_name}</ForeignText>{' '}
      <span className="quiet small">
        <Moment at={act.date} /> {act.on_behalf_by && t('payments.act.onBehalf')}
      </span>
      {act.reason && (
        <div className="small">
          <q>
            <ForeignText>{act.reason}</ForeignText>
          </q>
        </div>
      )}
    </>
  );
}

function Levels({ explanation }: { explanation: Explanation }): ReactNode {
  const t = useText();
  return (
    <ol className="plain stack tight">
      {explanation.levels.map(({ level, met, one_of: choices, places }) => (
        <li key={level}>
          <strong>{t('payments.level', { level })}</strong>{' '}
          <Badge tone={met ? 'good' : 'neutral'}>{t(met ? 'payments.level.met' : 'payments.level.open')}</Badge>
          <div className="small">
            {choices.map(({ all_of: groups }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: an alternative is its place
              <span key={index}>
                {index > 0 && ` ${t('payments.level.or')} `}
                <ForeignText>{groups.join(' + ')}</ForeignText>
              </span>
            ))}
          </div>
          <ul className="plain small quiet">
            {places.map(({ group, contact_name: name }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a place is its index
              <li key={index}>
                <ForeignText>{group}</ForeignText>:{' '}
                {name ? <ForeignText>{name}</ForeignText> : t('payments.level.free')}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}
