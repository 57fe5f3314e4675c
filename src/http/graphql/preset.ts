import { makePgService } from 'postgraphile/adaptors/pg';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { pgSmartTags } from 'postgraphile/utils';
import { PostGraphileConnectionFilterPreset } from 'postgraphile-plugin-connection-filter';
import type { Pool } from '../../database/database.ts';
import { mutations } from './mutations.ts';
import { CLIENT_ROLE } from './read-only.ts';
import { subscriptionFields } from './subscription-fields.ts';
import { texts } from './texts.ts';

/** No attribute can be filtered or sorted by, unless a tag below allows it. */
const CLOSED = '-attribute:filterBy -attribute:orderBy';
const FILTER = '+attribute:filterBy';
const FILTER_AND_ORDER = '+attribute:filterBy +attribute:orderBy';
const ORDER = '+attribute:orderBy';
/** Used in joins, but not a field of the type. */
const HIDDEN = '-attribute:select';
/** The relation can be followed only from one to many. */
const ONE_WAY = '@behavior -singularRelation:resource:single';

/** Only subscriptions are at the root. Other types are reached through them, and nothing leads back. */
const tags = pgSmartTags([
  ...attributes('subscriptions', {
    id: FILTER,
    contact_id: FILTER,
    url: FILTER,
    active: FILTER,
    types: FILTER,
    created_at: FILTER_AND_ORDER,
    extra_headers: HIDDEN,
  }),
  ...attributes('notifications', {
    id: FILTER,
    type: FILTER,
    status: FILTER,
    created_at: FILTER_AND_ORDER,
    subscription_id: HIDDEN,
    event_id: HIDDEN,
    client_id: HIDDEN,
  }),
  ...attributes('attempts', {
    attempt_number: ORDER,
    started_at: ORDER,
    status_code: FILTER,
    reason: FILTER,
    notification_id: HIDDEN,
    created_at: HIDDEN,
    body: HIDDEN,
    headers: HIDDEN,
    client_id: HIDDEN,
  }),
  { kind: 'class', match: 'subscriptions', tags: { behavior: '+query:resource:connection' } },
  {
    kind: 'class',
    match: 'notifications',
    tags: {
      foreignKey: `(subscription_id) references subscriptions (id)|@foreignFieldName notifications|${ONE_WAY}`,
    },
  },
  {
    kind: 'class',
    match: 'attempts',
    tags: {
      // Both columns, because the day of the notification determines the attempts' partition.
      foreignKey: `(notification_id, created_at) references notifications (id, created_at)|@foreignFieldName attempts|${ONE_WAY}`,
    },
  },
]);

function attributes(table: string, behaviors: Record<string, string>) {
  return Object.entries(behaviors).map(([name, behavior]) => ({
    kind: 'attribute' as const,
    match: `${table}.${name}`,
    tags: { behavior },
  }));
}

/**
 * The tables of the interface, and the type of their extra headers. The database schema has many other tables, and functions, which the
 * interface does not show.
 */
const SHOWN = new Set(['subscriptions', 'notifications', 'attempts', 'extra_header']);
const tablesOf = (schema: string): GraphileConfig.Plugin => ({
  name: 'LombardTables',
  version: '1.0.0',
  gather: {
    hooks: {
      pgIntrospection_introspection(_info, { introspection: { namespaces, classes, procs } }) {
        // Other cells have tables with the same names.
        const own = namespaces.find(({ nspname }) => nspname === schema)?._id;
        const shown = classes.filter(({ relname, relnamespace }) => SHOWN.has(relname) && relnamespace === own);
        // PostGraphile continues with these very arrays, so they are changed in place.
        classes.splice(0, classes.length, ...shown);
        procs.splice(0);
      },
    },
  },
});

/** Keeps the name `id`, which PostGraphile reserves for global object identifiers, and gives the root field the plain name of the table. */
const names: GraphileConfig.Plugin = {
  name: 'LombardNames',
  version: '1.0.0',
  inflection: {
    replace: {
      _attributeName(previous, _options, details) {
        return previous!({ ...details, skipRowId: true });
      },
      _allRows(_previous, _options, resource) {
        return this.camelCase(this.pluralize(this._singularizedResourceName(resource)));
      },
      // PostGraphile's own inputs would write the tables. mutation-types.ts needs their names.
      inputType: (_previous, _options, typeName) => `${typeName}RowInput`,
      patchType: (_previous, _options, typeName) => `${typeName}RowPatch`,
    },
  },
};

/** Makes the order of creation the default. An order by random ids means nothing, and would sort the whole history. */
const order: GraphileConfig.Plugin = {
  name: 'LombardDefaultOrder',
  version: '1.0.0',
  after: ['PgConnectionArgOrderByDefaultValuePlugin'],
  schema: {
    hooks: {
      GraphQLObjectType_fields_field_args_arg(arg, build, { scope }) {
        if (scope.argName !== 'orderBy' || !scope.isPgFieldConnection || !scope.pgFieldResource) return arg;
        const type = build.getTypeByName(
          build.inflection.orderByType(build.inflection.tableType(scope.pgFieldResource.codec)),
        );
        const values = type && build.graphql.isEnumType(type) ? type.getValues() : [];
        const value = values.find(({ name }) => name === 'CREATED_AT_ASC');
        return value ? { ...arg, defaultValue: [value.value] } : arg;
      },
    },
  },
};

/**
 * The schema of the subscription interface, which PostGraphile makes from the tables that a client's role may read (service interface, POST
 * /webhooks/graphql; docs/decisions.md, 6).
 * @param schema of the tables; statements do not name it
 */
export function preset(pool: Pool, schema: string): GraphileConfig.Preset {
  return {
    extends: [PostGraphileAmberPreset, PostGraphileConnectionFilterPreset],
    plugins: [tablesOf(schema), tags, names, order, texts, subscriptionFields, mutations],
    disablePlugins: [
      // Its root type would take the name of the table's type.
      'SubscriptionPlugin',
      // Global object identification. Here `id` is the table's own column.
      'NodePlugin',
      'AddNodeInterfaceToSuitableTypesPlugin',
      'PgTableNodePlugin',
      'NodeAccessorPlugin',
      'RegisterQueryNodePlugin',
      'PgNodeIdAttributesPlugin',
      // `filter` replaces `condition`.
      'PgConditionArgumentPlugin',
      'PgConditionCustomFieldsPlugin',
      // Filters across relations, and trees of and/or/not, have unbounded cost.
      'PgConnectionArgFilterBackwardRelationsPlugin',
      'PgConnectionArgFilterForwardRelationsPlugin',
      'PgConnectionArgFilterLogicalOperatorsPlugin',
      'PgConnectionArgFilterComputedAttributesPlugin',
      'PgConnectionArgFilterRecordFunctionsPlugin',
      // Root fields that are not part of the interface.
      'PgRowByUniquePlugin',
      'QueryQueryPlugin',
      'PgIndexBehaviorsPlugin',
      'PgCustomTypeFieldPlugin',
    ],
    pgServices: [
      makePgService({ pool, schemas: [schema], pubsub: false, pgSettingsForIntrospection: { role: CLIENT_ROLE } }),
    ],
    gather: { pgIdentifiers: 'unqualified' },
    schema: {
      defaultBehavior: `-query:resource:connection -query:resource:list -queryField ${CLOSED}`,
      // An empty filter matches everything.
      connectionFilterAllowNullInput: true,
      connectionFilterAllowEmptyObjectInput: true,
      connectionFilterAllowedOperators: [
        'isNull',
        'equalTo',
        'notEqualTo',
        'in',
        'notIn',
        'lessThan',
        'lessThanOrEqualTo',
        'greaterThan',
        'greaterThanOrEqualTo',
        'contains',
        'containedBy',
        'overlaps',
        'anyEqualTo',
        'startsWith',
        'includes',
      ],
    },
  };
}
