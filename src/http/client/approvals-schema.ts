import { Type } from 'typebox';
import { MAX_SAMPLES } from '../../approvals/dry-run.ts';
import {
  MAX_ALTERNATIVES,
  MAX_GROUP_NAME_LENGTH,
  MAX_GROUPS,
  MAX_LEVELS,
  MAX_NAMES_PER_ALTERNATIVE,
  MAX_RULES,
  MAX_SCOPE_LENGTH,
  MAX_USERS_PER_GROUP,
} from '../../approvals/rules/ruleset.ts';
import { APPROVAL_STATUSES } from '../../identity/people/client.ts';
import { Authorisation } from '../../payments/declaration.ts';
import { Currency, Decimal, Nullable } from '../../values/schemas.ts';

/** Bodies of the approvals workflow, for the API description (service interface, Approvals workflow configuration). */

export const Settings = Type.Object(
  {
    payment_approvals_enabled: Type.Boolean({ description: 'The workflow is enabled' }),
    payment_creator_approval_enabled: Type.Boolean({ description: 'The creator-as-approver option is active' }),
  },
  {
    title: 'ApprovalSettings',
    examples: [{ payment_approvals_enabled: true, payment_creator_approval_enabled: false }],
  },
);

/** A configuration that the sandbox's first client can send. */
const example = {
  groups: [
    {
      name: 'treasury',
      scope: 'payments',
      users: [
        { id: 'CON000001', name: 'Ada Ashdown', email: 'ada@ashdown.example' },
        { id: 'CON000003', name: 'Chloé Martin', email: 'chloe@ashdown.example' },
      ],
    },
    {
      name: 'directors',
      scope: 'payments',
      users: [{ id: 'CON000001', name: 'Ada Ashdown', email: 'ada@ashdown.example' }],
    },
  ],
  ruleset: {
    currency: 'EUR',
    rules: [
      { minimum_threshold: 0, groups: [{ one_of: [{ all_of: ['treasury'] }] }] },
      {
        minimum_threshold: 50000,
        groups: [
          { one_of: [{ all_of: ['treasury'] }] },
          { one_of: [{ all_of: ['directors'] }, { all_of: ['treasury', 'treasury'] }] },
        ],
      },
    ],
  },
};

const GroupName = Type.String({ minLength: 1, maxLength: MAX_GROUP_NAME_LENGTH });
const Level = Type.Object({
  one_of: Type.Array(
    Type.Object({
      all_of: Type.Array(GroupName, {
        minItems: 1,
        maxItems: MAX_NAMES_PER_ALTERNATIVE,
        description: 'Groups, each of which needs one distinct person; a name that appears twice needs two',
      }),
    }),
    { minItems: 1, maxItems: MAX_ALTERNATIVES, description: 'Alternatives, one of which is enough' },
  ),
});
const levels = { minItems: 1, maxItems: MAX_LEVELS, description: 'Levels, all of which must be met' };
const Threshold = Type.Number({ minimum: 0, description: 'The rule holds from this amount up to the next threshold' });
const Person = Type.Object({ id: Type.String(), name: Type.String(), email: Type.String() });

const Ruleset = Type.Object(
  {
    currency: Currency('Amounts are converted to it'),
    rules: Type.Array(Type.Object({ groups: Type.Array(Level, levels), minimum_threshold: Threshold }), {
      maxItems: MAX_RULES,
      description: 'Thresholds, each once; below the lowest no approval is needed',
    }),
  },
  { title: 'Ruleset' },
);
const Group = Type.Object({
  name: GroupName,
  scope: Type.String({ minLength: 1, maxLength: MAX_SCOPE_LENGTH, description: 'Kept as it was sent' }),
  users: Type.Array(Person, { maxItems: MAX_USERS_PER_GROUP }),
});

export const Configuration = Type.Object(
  { groups: Type.Array(Group, { maxItems: MAX_GROUPS }), ruleset: Nullable(Ruleset) },
  { title: 'ApprovalConfiguration', examples: [example] },
);

export const WrittenConfiguration = Type.Object(
  {
    groups: Type.Array(
      Type.Object({
        name: GroupName,
        scope: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_SCOPE_LENGTH, default: 'payments' })),
        users: Type.Array(
          Type.Object({
            id: Type.String({ description: 'A contact of the client' }),
            name: Type.Optional(Type.String({ description: 'Not read: the service knows it' })),
            email: Type.Optional(Type.String({ description: 'Not read: the service knows it' })),
          }),
          { maxItems: MAX_USERS_PER_GROUP },
        ),
      }),
      { maxItems: MAX_GROUPS },
    ),
    ruleset: Ruleset,
    sample_amounts: Type.Optional(
      Type.Array(
        Type.Union([
          Decimal('Amount in the currency of the ruleset'),
          Type.Object({
            amount: Decimal('Amount'),
            currency: Type.Optional(Currency('Default: that of the ruleset')),
          }),
        ]),
        {
          maxItems: MAX_SAMPLES,
          description: 'Answered with `dry_run=true` only. Default: each threshold is a sample',
        },
      ),
    ),
  },
  {
    title: 'WrittenApprovalConfiguration',
    examples: [
      {
        groups: example.groups.map(({ users, ...group }) => ({ ...group, users: users.map(({ id }) => ({ id })) })),
        ruleset: example.ruleset,
      },
    ],
  },
);

export const DryRun = Type.Object(
  {
    groups: Type.Array(Group),
    ruleset: Ruleset,
    dry_run: Type.Literal(true),
    payment_approvals_enabled: Type.Boolean(),
    payment_creator_approval_enabled: Type.Boolean(),
    approvers: Type.Array(Type.Object({ group: Type.String(), users: Type.Array(Person) }), {
      description: 'For each group, its users who may authorise payments now',
    }),
    samples: Type.Array(
      Type.Object({
        amount: Type.Number(),
        currency: Type.String(),
        rate: Type.Number({ description: 'What one unit of the currency is in the currency of the ruleset' }),
        converted_amount: Type.Number(),
        rule: Nullable(Type.Integer({ description: 'Index of the governing rule; null: no approval is needed' })),
        minimum_threshold: Nullable(Type.Number()),
        minimum_authorisations: Type.Integer({ description: 'The least number of distinct people' }),
        levels: Type.Array(Level),
        first_approvers: Type.Array(Type.String(), { description: 'Contacts whose approval could be the first' }),
      }),
    ),
  },
  {
    title: 'ApprovalDryRun',
    examples: [
      {
        ...example,
        dry_run: true,
        payment_approvals_enabled: true,
        payment_creator_approval_enabled: false,
        approvers: example.groups.map(({ name, users }) => ({ group: name, users })),
        samples: [
          {
            amount: 60000,
            currency: 'USD',
            rate: 0.9,
            converted_amount: 54000,
            rule: 1,
            minimum_threshold: 50000,
            minimum_authorisations: 2,
            levels: example.ruleset.rules[1]?.groups,
            first_approvers: ['CON000001', 'CON000003'],
          },
        ],
      },
    ],
  },
);

export const Version = Type.Object(
  {
    version: Type.Integer({ description: 'From 1' }),
    created_date: Type.String({ format: 'date-time', description: 'With the London offset' }),
    created_by: Type.String({ description: 'As in the audit trail' }),
    contact_name: Nullable(Type.String()),
  },
  {
    title: 'ApprovalConfigurationVersion',
    examples: [
      {
        version: 3,
        created_date: '2026-07-01T10:15:00+01:00',
        created_by: 'contact:CON000001',
        contact_name: 'Ada Byron',
      },
    ],
  },
);

const authorisation = {
  date: '2026-07-01T11:02:41+01:00',
  status: 1,
  contact_id: 'CON000002',
  level: 1,
  contact_name: 'Grace Murray',
  reason: 'Matches invoice 42',
  on_behalf_by: null,
};

export const Explanation = Type.Object(
  {
    payment_id: Type.String(),
    status: Type.String({ description: "The payment's status" }),
    governed_by: Type.Enum(['none', 'eyes', 'ruleset'], { description: 'What decided when the payment was created' }),
    n_eyes_plus_status: Type.Enum([...APPROVAL_STATUSES]),
    minimum_remaining_authorisations: Type.Integer(),
    can_be_completed: Type.Boolean({ description: 'Those who may authorise payments now are enough' }),
    creator: Type.Object({
      contact_id: Type.String(),
      contact_name: Type.String(),
      creation_counts: Type.Boolean({ description: 'Counts as an approval where a group of the rule has the creator' }),
    }),
    approvers_needed: Nullable(Type.Integer({ description: 'Of eyes: distinct approvers other than the creator' })),
    rule: Nullable(
      Type.Object({
        version: Type.Integer({ description: 'Version of the configuration' }),
        index: Type.Integer({ description: 'Index into its `ruleset.rules`' }),
        minimum_threshold: Type.Number(),
        currency: Type.String(),
        payment_amount: Type.Number(),
        payment_currency: Type.String(),
        rate: Type.Number({ description: 'As it was when the payment was created' }),
        converted_amount: Type.Number(),
      }),
    ),
    levels: Type.Array(
      Type.Object({
        level: Type.Integer(),
        met: Type.Boolean(),
        one_of: Type.Array(Type.Object({ all_of: Type.Array(Type.String()) })),
        alternative: Type.Integer({ description: 'Index of the alternative that the fewest further people complete' }),
        places: Type.Array(
          Type.Object({
            group: Nullable(Type.String()),
            contact_id: Nullable(Type.String()),
            contact_name: Nullable(Type.String()),
          }),
          { description: 'Its places, and who fills them' },
        ),
      }),
    ),
    authorisations: Type.Array(Authorisation),
    next: Type.Array(
      Type.Object({
        contact_id: Type.String(),
        contact_name: Type.String(),
        actions: Type.Array(Type.Enum(['authorise', 'reject'])),
      }),
      { description: 'Who could act now' },
    ),
  },
  {
    title: 'ApprovalExplanation',
    examples: [
      {
        payment_id: 'PAY000001',
        status: 'Payment pending of authorization',
        governed_by: 'ruleset',
        n_eyes_plus_status: 'Pending approval',
        minimum_remaining_authorisations: 1,
        can_be_completed: true,
        creator: { contact_id: 'CON000001', contact_name: 'Edsger Wybe', creation_counts: false },
        approvers_needed: null,
        rule: {
          version: 3,
          index: 1,
          minimum_threshold: 50000,
          currency: 'EUR',
          payment_amount: 60000,
          payment_currency: 'USD',
          rate: 0.9,
          converted_amount: 54000,
        },
        levels: [
          {
            level: 1,
            met: true,
            one_of: [{ all_of: ['treasury'] }],
            alternative: 0,
            places: [{ group: 'treasury', contact_id: 'CON000002', contact_name: 'Grace Murray' }],
          },
          {
            level: 2,
            met: false,
            one_of: [{ all_of: ['directors'] }, { all_of: ['treasury', 'treasury'] }],
            alternative: 0,
            places: [{ group: 'directors', contact_id: null, contact_name: null }],
          },
        ],
        authorisations: [authorisation],
        next: [
          { contact_id: 'CON000003', contact_name: 'Alan Mathison', actions: ['reject'] },
          { contact_id: 'CON000004', contact_name: 'Ada Byron', actions: ['authorise', 'reject'] },
        ],
      },
    ],
  },
);
