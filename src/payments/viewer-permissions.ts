import { isDistributed } from '../database/cells/pool.ts';
import { type Db, first } from '../database/database.ts';

/** SQL: whether the viewer may manage the client's payments. @param client,viewer SQL parameters */
export function mayManage(client: string, viewer: string): string {
  return `(select can_manage_payments from contact_clients where client_id = ${client} and contact_id = ${viewer})`;
}

/**
 * SQL: whether the viewer may authorise payments of the client at all. Every read of payment_approvers includes it, because the rows of a
 * contact who has lost the permission are removed later (approvals/refresher.ts). A contact who creates payments may be the only approver
 * of its own.
 * @param client,viewer SQL parameters
 */
export function mayApprove(client: string, viewer: string): string {
  return `(select can_authorise_payments or can_create_payments from contact_clients where client_id = ${client} and contact_id = ${viewer})`;
}

/** The form of what `mayManage` and `mayApprove` write. */
const PERMISSION =
  /\(select (can_\w+(?: or can_\w+)?) from contact_clients where client_id = \$1 and contact_id = [^()]+\)/g;

interface Statement {
  name?: string | undefined;
  text: string;
  values: unknown[];
}

/**
 * Prepares a statement that may contain `mayManage` and `mayApprove` for the place where the payments are. Permissions exist only once. If
 * a Citus worker holds the payments, the permissions are read first and inserted as values. Otherwise Citus would plan the statement in
 * parts.
 * @param statement its first two values are the client and the viewer
 */
export async function withPermissions<S extends Statement>(db: Db, statement: S): Promise<S> {
  if (!isDistributed(db)) return statement;
  const values = [...statement.values];
  const permissions = first(
    await db.query<Record<string, boolean>>({
      name: 'permissions-of-viewer',
      text: `select can_manage_payments, can_authorise_payments or can_create_payments as "can_authorise_payments or can_create_payments"
        from contact_clients where client_id = $1 and contact_id = $2`,
      values: values.slice(0, 2),
    }),
  );
  const places = new Map<string, number>();
  const text = statement.text.replace(PERMISSION, (_, permission: string) => {
    if (!places.has(permission)) places.set(permission, values.push(permissions?.[permission] ?? null));
    return `$${places.get(permission)}::boolean`;
  });
  // The name must differ: in the first cell, a connection may have prepared the other text under it.
  return { ...statement, text, values, name: statement.name && `${statement.name}-apart` };
}
