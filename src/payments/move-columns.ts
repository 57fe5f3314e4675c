import type { Act } from '../audit/act.ts';
import type { Transaction } from '../database/database.ts';
import { RowList } from '../database/row-list.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { present } from '../values/unknown.ts';
import type { PaymentAction, PaymentStatus } from './moves.ts';

/** A legal move that takes effect. */
interface Move {
  act: Act;
  id: PaymentNumber;
  /** The status afterwards. */
  status: PaymentStatus;
  request: {
    clientId: string;
    action: PaymentAction;
    contactId?: string | undefined;
    reason?: string | undefined;
    information?: string | undefined;
  };
}

/** The columns that moves write. */
const TYPES: Record<string, string> = {
  status: 'payment_status',
  authorised_by: 'text',
  authorised_date: 'timestamptz',
  rejected_by: 'text',
  rejected_date: 'timestamptz',
  cancelled_by: 'text',
  cancelled_date: 'timestamptz',
  reason: 'text',
  information: 'text',
  invalidated: 'boolean',
  sent_date: 'timestamptz',
  return_started: 'boolean',
  returned: 'boolean',
};

/** Sets the status and the columns of the action, with one statement for each action. */
export async function writeMoves(tx: Transaction, moves: readonly Move[]): Promise<void> {
  const all = moves.map(({ request, act, id, status }) => {
    const values: Record<string, unknown> = { status, ...stampsOf(act, request) };
    return { clientId: request.clientId, id, action: request.action, values };
  });
  const alike = Map.groupBy(all, ({ action, values }) => `${action} ${Object.keys(values).join()}`);
  for (const rows of alike.values()) {
    const { action, values } = present(rows[0]);
    const columns = Object.keys(values);
    const list = new RowList(rows, ({ clientId }) => clientId, {
      id: { type: 'bigint', of: (row) => row.id },
      ...Object.fromEntries(
        columns.map((name) => [name, { type: TYPES[name] ?? 'text', of: (row) => row.values[name] }]),
      ),
    } as Record<string, { type: string; of: (row: (typeof rows)[number]) => unknown }>);
    tx.later({
      name: list.named(`payments-${action}-${columns.length}`),
      text: `update payments p set ${columns.map((name) => `${name} = ${list.at(name)}`).join(', ')} ${list.after('from')}
        where p.client_id = ${list.client} and p.id = ${list.at('id')}`,
      values: list.values,
    });
  }
}

/** The columns in which a payment records an action. */
function stampsOf(act: Act, request: Move['request']): Record<string, unknown> {
  const by = request.contactId ?? act.actor.replace(/^contact:/, '');
  const cancelled = { cancelled_by: by, cancelled_date: act.now };
  const reason = request.reason ?? null;
  const stamps: Partial<Record<PaymentAction, Record<string, unknown>>> = {
    authorise: { authorised_by: by, authorised_date: act.now },
    reject: { rejected_by: by, rejected_date: act.now, reason },
    cancel: act.actor.startsWith('contact:') ? { ...cancelled, reason } : cancelled,
    provide_information: request.information === undefined ? {} : { information: request.information },
    invalidate: { ...cancelled, invalidated: true },
    send: { sent_date: act.now },
    start_return: { return_started: true, return_reason: reason },
    return: { ...cancelled, return_started: false, returned: true },
  };
  return stamps[request.action] ?? {};
}
