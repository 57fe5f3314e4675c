import { unionOfCells } from '../../database/cells/union.ts';
import type { Db } from '../../database/database.ts';
import { isUuid } from '../../values/uuid.ts';

/** A payment as a list of finds shows it. */
export interface NamedPayment {
  client_id: string;
  payment_id: string;
  amount: string;
  payment_currency: string;
  beneficiary_name: string;
  reference: string | null;
  status: string;
  created: Date;
}

const COLUMNS = `p.client_id, p.payment_id, p.amount::text as amount, p.payment_currency, p.beneficiary_name, p.reference,
  p.status::text as status, p.created`;

// The index by reference begins with the client: one look at it for each client.
const NAMED = `select ${COLUMNS} from payments p where p.payment_id = $1
  union select ${COLUMNS} from payments p where p.uuid = $2
  union select p.* from clients c cross join lateral (
    select ${COLUMNS} from payments p where p.client_id = c.client_id and p.reference = $1 order by p.created desc, p.id desc limit $3) p
  order by created desc, payment_id limit $3`;
/** The same in a cell on a worker of Citus, where a part cannot depend on each client. */
const NAMED_IN_CELL = `select ${COLUMNS} from payments p where p.payment_id = $1
  union select ${COLUMNS} from payments p where p.uuid = $2
  union (select ${COLUMNS} from payments p where p.client_id = any(array(select client_id from clients)) and p.reference = $1
    order by p.created desc, p.id desc limit $3)`;

/** The payments of all clients that a text names: by identifier, UETR or reference, the newest first. */
export async function paymentsNamed(db: Db, text: string, limit: number): Promise<NamedPayment[]> {
  const { rows } = await db.query<NamedPayment & Record<string, unknown>>(
    unionOfCells(db, 'payments')
      ? `select * from (${unionOfCells(db, 'payments')?.(NAMED_IN_CELL)}) p order by created desc, payment_id limit $3`
      : NAMED,
    [text, isUuid(text) ? text : null, limit],
  );
  return rows;
}
