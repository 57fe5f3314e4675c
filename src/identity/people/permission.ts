/** What a contact may do for a client where nobody says it (docs/decisions.md, 1). Reading needs no permission. */
export const DEFAULT_PERMISSIONS = [
  'can_authorise_payments',
  'can_manage_payments',
  'can_manage_multipayments',
  'can_manage_permissions',
  'can_manage_webhooks',
] as const;

/** What a contact may be allowed to do for a client, each a column of its membership. Nobody may order unless somebody says so. */
export const PERMISSIONS = [
  ...DEFAULT_PERMISSIONS,
  'can_manage_beneficiaries',
  'can_create_payments',
  'can_trade',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** What a contact may do for one of its clients. */
export type Permissions = Record<Permission, boolean>;

/** The permissions of a membership, as a list. @param alias of `contact_clients` */
export const permissionsOf = (alias: string) =>
  `array_remove(array[${PERMISSIONS.map((name) => `case when ${alias}.${name} then '${name}' end`).join(', ')}], null)`;

/** What a contact may do for a client that it is given. */
export function permissionsGiven({ permissions }: { permissions?: Permission[] | undefined }): readonly Permission[] {
  return permissions ?? DEFAULT_PERMISSIONS;
}
