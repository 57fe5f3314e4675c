import { randomUUID } from 'node:crypto';
import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { contactNames } from '../identity/people/contact.ts';
import { londonTimestamp } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { type Exact, exact } from '../values/json.ts';
import { permittedContacts } from './approvers.ts';
import { takeLock } from './lock.ts';
import type { Configuration, Level } from './rules/ruleset.ts';
import { checkUsers, validateConfiguration } from './rules/ruleset-reader.ts';
import { checkSatisfiable } from './rules/satisfiability.ts';

/** A configuration as it was stored, with the users' names and emails at that time. */
export interface Stored extends Configuration {
  groups: { name: string; scope: string; users: Person[] }[];
}

export interface Person {
  id: string;
  name: string;
  email: string;
}

export interface ConfigurationInForce extends Configuration {
  version: number;
  /** Unique over all clients and databases. */
  id: string;
}

/** A configuration in the form that clients see (service interface, Approvals workflow configuration). */
export interface ShownConfiguration {
  groups: { name: string; scope: string; users: Person[] }[];
  /** null while the client has no configuration. So the answer cannot be sent back by mistake, which would end the eyes workflow. */
  ruleset: { currency: string; rules: { minimum_threshold: Exact | null; groups: Level[] }[] } | null;
}

/** The client's configuration in force, with its version. Undefined if it has none, and its eyes workflow applies. */
async function configurationInForce(db: Db, clientId: string): Promise<ConfigurationInForce | undefined> {
  return (await configurationsInForce(db, [clientId])).get(clientId);
}

/** The configurations in force, for those clients that have one. */
export async function configurationsInForce(
  db: Db,
  clientIds: readonly string[],
): Promise<Map<string, ConfigurationInForce>> {
  const [only] = clientIds;
  if (only === undefined) return new Map();
  const newest = (client: string) =>
    `select client_id, version, id, configuration from approval_configurations where client_id = ${client} order by version desc limit 1`;
  const ofAll = `select c.* from unnest($1::text[]) as u(client_id) cross join lateral (${newest('u.client_id')}) c`;
  const { rows } = await db.query<{ client_id: string; version: number; id: string; configuration: Configuration }>(
    clientIds.length === 1
      ? { name: 'configuration-in-force', text: newest('$1'), values: [only] }
      : { name: 'configurations-in-force', text: ofAll, values: [clientIds] },
  );
  return new Map(rows.map(({ client_id: client, configuration, ...rest }) => [client, { ...configuration, ...rest }]));
}

/** The contacts of a client by id. */
async function peopleOf(db: Db, clientId: string): Promise<Map<string, Person>> {
  const { rows } = await db.query<Person>(
    `select c.contact_id as id, c.name, c.email from contact_clients cc join contacts c using (contact_id) where cc.client_id = $1`,
    [clientId],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Reads and checks a configuration for a client.
 * @throws Problem invalid_body, which names the path to the element; ruleset_unsatisfiable
 */
export async function checkConfiguration(
  db: Db,
  clientId: string,
  body: unknown,
): Promise<{ configuration: Configuration; people: Map<string, Person>; permitted: Set<string> }> {
  const configuration = validateConfiguration(body);
  const people = await peopleOf(db, clientId);
  checkUsers(configuration, new Set(people.keys()));
  const permitted = await permittedContacts(db, clientId);
  checkSatisfiable(configuration, permitted);
  return { configuration, people, permitted };
}

/**
 * Replaces the client's whole configuration with a new version. It applies to payments that are created from now on; earlier payments keep
 * theirs (docs/decisions.md, 4).
 * @throws Problem invalid_body, ruleset_unsatisfiable; then nothing has changed
 */
export async function replaceConfiguration(
  tx: Transaction,
  act: Act,
  clientId: string,
  body: unknown,
): Promise<{ version: number; shown: ShownConfiguration }> {
  await takeLock(tx, clientId);
  const { configuration, people } = await checkConfiguration(tx, clientId, body);
  const before = await configurationInForce(tx, clientId);
  const version = (before?.version ?? 0) + 1;
  const stored = named(configuration, people);
  await tx.query(
    `insert into approval_configurations (client_id, version, id, configuration, created_at, created_by) values ($1, $2, $3, $4, $5, $6)`,
    [clientId, version, randomUUID(), JSON.stringify(stored), act.now, act.actor],
  );
  audit(tx, act, {
    action: before ? 'update' : 'create',
    entity: 'approvals_configuration',
    entityId: `${clientId} ${version}`,
    clientId,
    before: before && { version: before.version, groups: before.groups, ruleset: before.ruleset },
    after: { version, ...stored },
  });
  noteChange(tx, act, {
    entity: 'approval_configuration',
    id: clientId,
    clientId,
    action: before ? 'update' : 'create',
    created: !before,
  });
  return { version, shown: shownConfiguration(stored) };
}

/**
 * The configuration in force, with its users' current names and emails. An earlier version is returned exactly as it was stored.
 * @throws Problem invalid_parameter if the version does not exist
 */
export async function readConfiguration(
  db: Db,
  clientId: string,
  version?: number,
): Promise<{ version: number; shown: ShownConfiguration }> {
  const { rows } = await db.query<{ version: number; configuration: Stored }>(
    `select version, configuration from approval_configurations
     where client_id = $1 and ($2::int is null or version = $2) order by version desc limit 1`,
    [clientId, version ?? null],
  );
  const found = rows[0];
  if (found && version !== undefined) return { version, shown: shownConfiguration(found.configuration) };
  if (version !== undefined) throw new Problem('invalid_parameter', { field: 'version', message: 'does not exist' });
  if (!found) return { version: 0, shown: { groups: [], ruleset: null } };
  const people = await peopleOf(db, clientId);
  return { version: found.version, shown: shownConfiguration(named(found.configuration, people)) };
}

export interface ConfigurationVersion {
  version: number;
  created_date: string;
  /** `contact:<contact_id>`, as in the audit trail. */
  created_by: string;
  contact_name: string | null;
}

/** A page of the client's versions, newest first, and their total number. */
export async function listVersions(
  db: Db,
  clientId: string,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<{ rows: ConfigurationVersion[]; total: number }> {
  const { rows } = await db.query<{ version: number; created_at: Date; created_by: string }>(
    `select version, created_at, created_by from approval_configurations
     where client_id = $1 order by version desc limit $2 offset $3`,
    [clientId, pageSize, (page - 1) * pageSize],
  );
  const total = await db.query<{ total: number }>(
    'select count(*) as total from approval_configurations where client_id = $1',
    [clientId],
  );
  const contactOf = (row: { created_by: string }) => /^contact:(.*)$/.exec(row.created_by)?.[1] ?? '';
  const names = await contactNames(db, rows.map(contactOf));
  return {
    rows: rows.map((row) => ({
      version: row.version,
      created_date: londonTimestamp(row.created_at),
      created_by: row.created_by,
      contact_name: names.get(contactOf(row)) ?? null,
    })),
    total: total.rows[0]?.total ?? 0,
  };
}

/** Gives each user the name and email of its contact. A user who has left the client keeps the stored ones. */
export function named(configuration: Configuration, people: ReadonlyMap<string, Person>): Stored {
  const person = (user: { id: string } & Partial<Person>): Person =>
    people.get(user.id) ?? { id: user.id, name: user.name ?? user.id, email: user.email ?? '' };
  const groups = configuration.groups.map(({ name, scope, users }) => ({ name, scope, users: users.map(person) }));
  return { groups, ruleset: configuration.ruleset };
}

export function shownConfiguration({ groups, ruleset }: Stored): ShownConfiguration {
  const rules = ruleset.rules.map((rule) => ({
    minimum_threshold: exact(rule.minimum_threshold),
    groups: rule.groups,
  }));
  return { groups, ruleset: { currency: ruleset.currency, rules } };
}

/** Whether and how a client approves payments (the service interface, Approvals workflow settings). */
export interface ApprovalSettings {
  payment_approvals_enabled: boolean;
  payment_creator_approval_enabled: boolean;
}

export async function readApprovalSettings(db: Db, clientId: string): Promise<ApprovalSettings | undefined> {
  return first(
    await db.query<ApprovalSettings & Record<string, unknown>>(
      'select payment_approvals_enabled, payment_creator_approval_enabled from clients where client_id = $1',
      [clientId],
    ),
  );
}
