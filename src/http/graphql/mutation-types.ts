import { gql } from 'postgraphile/utils';

/** The operations that PostGraphile does not derive from the tables, in the form that it would give them. */
export const MUTATION_TYPES = gql`
  extend type Query {
    """The types of notification that a subscription can name."""
    webhookTypes: [WebhookType!]!
  }

  extend type Mutation {
    """Creates a subscription of the client; it is inactive unless \`active\` is true."""
    createSubscription(input: CreateSubscriptionInput!): CreateSubscriptionPayload
    """Changes the fields of a subscription that the patch names."""
    updateSubscription(input: UpdateSubscriptionInput!): UpdateSubscriptionPayload
    """Deletes a subscription and cancels its pending notifications."""
    deleteSubscription(input: DeleteSubscriptionInput!): DeleteSubscriptionPayload
    """Sends a notification again: the same id and the same body; the attempt number continues."""
    redeliverNotification(input: RedeliverNotificationInput!): RedeliverNotificationPayload
    """Sends a subscription what it had in some time: what was sent, what waits, and what it missed while it was inactive."""
    replayNotifications(input: ReplayNotificationsInput!): ReplayNotificationsPayload
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
    """HTTP, the default: the service sends to the url. STREAM: the client reads them at /webhooks/stream."""
    delivery: SubscriptionDelivery
    """Where notifications are sent: https, at most 2,048 characters, no credentials, no fragment. Required, except with delivery STREAM."""
    url: String
    types: [WebhookType]!
    """Whether notifications are sent from now on; false by default."""
    active: Boolean
    """The key that notifications are signed with."""
    secret: String
    """At most 5."""
    extraHeaders: [ExtraHeaderInput]
  }

  """The changes of a subscription; a field that is left out stays as it is."""
  input SubscriptionPatch {
    url: String
    """Replaces the whole list."""
    types: [WebhookType]
    active: Boolean
    """A new signing key, used at once; null or the empty string removes it."""
    secret: String
    """Replaces the whole list."""
    extraHeaders: [ExtraHeaderInput]
    """Seconds for which notifications are signed with the former secret as well; needs a new secret. At most 30 days."""
    previousSecretSeconds: Int
  }

  """The input of createSubscription."""
  input CreateSubscriptionInput {
    """Any text; the payload repeats it."""
    clientMutationId: String
    subscription: SubscriptionInput!
  }

  """The input of updateSubscription."""
  input UpdateSubscriptionInput {
    """Any text; the payload repeats it."""
    clientMutationId: String
    id: UUID!
    patch: SubscriptionPatch!
  }

  """The input of deleteSubscription."""
  input DeleteSubscriptionInput {
    """Any text; the payload repeats it."""
    clientMutationId: String
    id: UUID!
  }

  """The input of redeliverNotification."""
  input RedeliverNotificationInput {
    """Any text; the payload repeats it."""
    clientMutationId: String
    id: UUID!
  }

  """The input of replayNotifications."""
  input ReplayNotificationsInput {
    """Any text; the payload repeats it."""
    clientMutationId: String
    subscriptionId: UUID!
    """Events from this moment on."""
    since: Datetime!
    """Events before this moment; now by default."""
    until: Datetime
    """Only notifications whose attempts have failed, finally or so far; false by default."""
    onlyFailed: Boolean
  }

  """The output of createSubscription."""
  type CreateSubscriptionPayload {
    clientMutationId: String
    subscription: Subscription
    """The query type, for further reading."""
    query: Query
  }

  """The output of updateSubscription."""
  type UpdateSubscriptionPayload {
    clientMutationId: String
    subscription: Subscription
    """The query type, for further reading."""
    query: Query
  }

  """The output of deleteSubscription."""
  type DeleteSubscriptionPayload {
    clientMutationId: String
    """The subscription as it was."""
    subscription: Subscription
    """The query type, for further reading."""
    query: Query
  }

  """The output of redeliverNotification."""
  type RedeliverNotificationPayload {
    clientMutationId: String
    """How many notifications are sent again."""
    count: Int!
    """The query type, for further reading."""
    query: Query
  }

  """The output of replayNotifications."""
  type ReplayNotificationsPayload {
    clientMutationId: String
    """How many notifications are sent, of those that the subscription had since its creation."""
    count: Int!
    """The query type, for further reading."""
    query: Query
  }
`;
