import { gql } from 'postgraphile/utils';

/** The operations that PostGraphile does not make from the tables, in the shapes that it would give them. */
export const MUTATION_TYPES = gql`
  extend type Query {
    """The types of notification that a subscription can name."""
    webhookTypes: [WebhookType!]!
  }

  extend type Mutation {
    """Creates a subscription of the client; it is inactive unless \`active\` is true."""
    createSubscription(input: CreateSubscriptionInput!): CreateSubscriptionPayload
    """Changes a subscription: what the patch names, and nothing else."""
    updateSubscription(input: UpdateSubscriptionInput!): UpdateSubscriptionPayload
    """Deletes a subscription. Attempts that are pending are given up."""
    deleteSubscription(input: DeleteSubscriptionInput!): DeleteSubscriptionPayload
  }

  """A header that is added to every notification."""
  input ExtraHeaderInput {
    """At most 128 characters, beginning with x-."""
    name: String!
    """At most 256 characters."""
    value: String!
  }

  """A subscription to be created."""
  input SubscriptionInput {
    """Where notifications are sent: https, at most 2,048 characters, no credentials, no fragment."""
    url: String!
    types: [WebhookType]!
    """Whether notifications are sent from now on; false by default."""
    active: Boolean
    """The key that notifications are signed with."""
    secret: String
    """At most 5."""
    extraHeaders: [ExtraHeaderInput]
  }

  """What of a subscription is to change; what is left out stays."""
  input SubscriptionPatch {
    url: String
    """Replaces the whole list."""
    types: [WebhookType]
    active: Boolean
    """A new signing key, used at once; null or the empty string removes it."""
    secret: String
    """Replaces the whole list."""
    extraHeaders: [ExtraHeaderInput]
    """Seconds for which notifications are signed with the former secret too; goes with a new one. At most 30 days."""
    previousSecretSeconds: Int
  }

  """The input of createSubscription."""
  input CreateSubscriptionInput {
    """Any text; the payload has it unchanged."""
    clientMutationId: String
    subscription: SubscriptionInput!
  }

  """The input of updateSubscription."""
  input UpdateSubscriptionInput {
    """Any text; the payload has it unchanged."""
    clientMutationId: String
    id: UUID!
    patch: SubscriptionPatch!
  }

  """The input of deleteSubscription."""
  input DeleteSubscriptionInput {
    """Any text; the payload has it unchanged."""
    clientMutationId: String
    id: UUID!
  }

  """The output of createSubscription."""
  type CreateSubscriptionPayload {
    clientMutationId: String
    subscription: Subscription
    """The whole query type, to read on."""
    query: Query
  }

  """The output of updateSubscription."""
  type UpdateSubscriptionPayload {
    clientMutationId: String
    subscription: Subscription
    """The whole query type, to read on."""
    query: Query
  }

  """The output of deleteSubscription."""
  type DeleteSubscriptionPayload {
    clientMutationId: String
    """The subscription as it was."""
    subscription: Subscription
    """The whole query type, to read on."""
    query: Query
  }
`;
