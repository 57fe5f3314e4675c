/** The default permissions of a contact for a client (docs/decisions.md, 1). Reading needs no permission. */
export const DEFAULT_PERMISSIONS = [
  'can_authorise_payments',
  'can_manage_payments',
  'can_manage_multipayments',
  'can_manage_permissions',
  'can_manage_webhooks',
] as const;

/** The permissions that a contact may have for a client. Each is a column of the membership. Permissions to order must be given explicitly. */
export const PERMISSIONS = [
  ...DEFAULT_PERMISSIONS,
  'can_manage_beneficiaries',
  'can_create_payments',
  'can_trade',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The permissions of a contact for one of its clients. */
export type Permissions = Record<Permission, boolean>;

/** SQL for the permissions of a membership, as a list. @param alias of `contact_clients` */
export const permissionsOf = (alias: string) =>
  `array_remove(array[${PERMISSIONS.map((name) => `case when ${alias}.${name} then '${name}' end`).join(', ')}], null)`;

/** The permissions of a contact for a client that it is given, or the default ones. */
export function permissionsGiven({ permissions }: { permissions?: Permission[] | undefined }): readonly Permission[] {
  return permissions ?? DEFAULT_PERMISSIONS;
}
