import { type Command, Option } from 'commander';
import { parseInstant } from '../values/calendar.ts';
import { NOTIFICATION_STATUSES, PING, WEBHOOK_TYPES } from '../webhooks/notification.ts';
import { CommandFailure, USAGE } from './failure.ts';
import { type Call, example, type Frame } from './frame.ts';
import type { Column } from './printer.ts';
import { notFound, uuid } from './refusal.ts';
import type { Session } from './session.ts';

/** The number of notifications listed for each subscription, unless `--limit` says otherwise. */
const DEFAULT_LIMIT_ROWS = 20;
/** The most attempts that `show` prints. */
const MAX_ATTEMPTS_ROWS = 50;

interface Attempt {
  attemptNumber: number;
  startedAt: string;
  durationMs: number;
  statusCode: number | null;
  reason: string | null;
}

interface Notification {
  id: string;
  type: string;
  status: string;
  createdAt: string;
  body?: string;
  attempts?: { nodes: Attempt[] };
}

type Listed = Notification & { subscriptionId: string };

interface Found {
  subscriptions: { nodes: { id: string; notifications: { nodes: Notification[] } }[] };
}

const LIST = `query ($first: Int!, $filter: SubscriptionFilter, $wanted: NotificationFilter) {
  subscriptions(first: 100, orderBy: CREATED_AT_DESC, filter: $filter) { nodes { id
    notifications(first: $first, orderBy: CREATED_AT_DESC, filter: $wanted) { nodes { id type status createdAt } } } }
}`;
const SHOW = `query ($id: UUID!, $subscription: UUID!) {
  subscriptions(first: 1, filter: {id: {equalTo: $subscription}}) { nodes { id
    notifications(first: 1, filter: {id: {equalTo: $id}}) { nodes { id type status createdAt body
      attempts(first: ${MAX_ATTEMPTS_ROWS}) { nodes { attemptNumber startedAt durationMs statusCode reason } } } } } }
}`;
const REDELIVER = 'mutation ($id: UUID!) { redeliverNotification(input: {id: $id}) { count } }';
const REPLAY = 'mutation ($input: ReplayNotificationsInput!) { replayNotifications(input: $input) { count } }';

const COLUMNS: Column<Listed>[] = [
  ['NOTIFICATION', ({ id }) => id],
  ['CREATED', ({ createdAt }) => createdAt],
  ['TYPE', ({ type }) => type],
  ['STATUS', ({ status }) => status],
  ['SUBSCRIPTION', ({ subscriptionId }) => subscriptionId],
];
const ATTEMPT_COLUMNS: Column<Attempt>[] = [
  ['ATTEMPT', ({ attemptNumber }) => attemptNumber],
  ['STARTED', ({ startedAt }) => startedAt],
  ['MS', ({ durationMs }) => durationMs],
  ['ANSWER', ({ statusCode, reason }) => statusCode ?? reason],
];

/** `lombard notifications`. */
export function notificationCommands(frame: Frame): void {
  const group = frame.program.command('notifications').description('what was sent, and sending it again');
  const list = group
    .command('list')
    .description('list the newest notifications of the client')
    .option('--subscription <id>', 'of one subscription')
    .addOption(new Option('--status <status>', 'what became of them').choices(NOTIFICATION_STATUSES))
    .addOption(new Option('--type <type>', 'of one type').choices([...WEBHOOK_TYPES, PING]))
    .option('--limit <number>', `how many for each subscription (${DEFAULT_LIMIT_ROWS})`);
  frame.asContact(example(list, 'notifications list --status failed'), listNotifications);

  const show = group.command('show <id>').description('show a notification, its body and its attempts');
  frame.asContact(example(show, 'notifications show 019a...'), showNotification);

  const redeliver = group.command('redeliver <id>').description('send a notification again');
  frame.asContact(example(redeliver, 'notifications redeliver 019a...'), async ({ args, session, print }) => {
    const { redeliverNotification } = await session.lombard.graphql<{ redeliverNotification: { count: number } }>(
      REDELIVER,
      { id: uuid(args[0], 'notification_not_found') },
    );
    print.done(`notification ${args[0]} is sent again`, redeliverNotification);
  });
  addReplay(frame, group);
}

function addReplay(frame: Frame, group: Command): void {
  const replay = group
    .command('replay <subscription>')
    .description('send a subscription the events of a period again, and those that it missed')
    .requiredOption('--since <instant>', 'events from this moment, as 2026-11-21T10:00:00Z')
    .option('--until <instant>', 'and before this one; now by default')
    .option('--only-failed', 'only notifications that failed');
  example(replay, 'notifications replay 5f0c... --since 2026-11-21T10:00:00Z --only-failed');
  frame.asContact(replay, async ({ args, options, session, print }) => {
    const input = {
      subscriptionId: uuid(args[0], 'subscription_not_found'),
      since: instant('--since', options.since),
      ...(options.until === undefined ? {} : { until: instant('--until', options.until) }),
      onlyFailed: options.onlyFailed === true,
    };
    const { replayNotifications } = await session.lombard.graphql<{ replayNotifications: { count: number } }>(REPLAY, {
      input,
    });
    print.done(`${replayNotifications.count} notifications are sent again`, replayNotifications);
  });
}

async function listNotifications({
  options: { subscription, status, type, limit },
  session,
  print,
}: Call<Record<string, string | undefined>> & { session: Session }): Promise<void> {
  const first = limit === undefined ? DEFAULT_LIMIT_ROWS : Number(limit);
  if (!Number.isInteger(first) || first < 1) throw new CommandFailure('--limit: must be a whole number from 1', USAGE);
  const wanted = {
    ...(status === undefined ? {} : { status: { equalTo: status } }),
    ...(type === undefined ? {} : { type: { equalTo: type } }),
  };
  const filter =
    subscription === undefined
      ? {}
      : { id: { equalTo: uuid(subscription, 'subscription_not_found', '--subscription') } };
  const { subscriptions } = await session.lombard.graphql<Found>(LIST, { first, filter, wanted });
  if (subscription !== undefined && subscriptions.nodes.length === 0)
    throw notFound('subscription_not_found', '--subscription');
  const rows = subscriptions.nodes
    .flatMap(({ id, notifications }) => notifications.nodes.map((one) => ({ ...one, subscriptionId: id })))
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  print.rows(rows, COLUMNS);
}

async function showNotification({ args, session, print }: Call & { session: Session }): Promise<void> {
  const found = await findNotification(session, uuid(args[0], 'notification_not_found'));
  if (print.json) {
    print.record(found);
    return;
  }
  const { attempts, ...fields } = found;
  print.record(fields);
  print.note('');
  print.rows(attempts?.nodes ?? [], ATTEMPT_COLUMNS);
}

/** Finds the subscription that contains a notification, because notifications can be read only through it. */
async function findNotification(session: Session, id: string): Promise<Listed> {
  const wanted = { id: { equalTo: id } };
  const { subscriptions } = await session.lombard.graphql<Found>(LIST, { first: 1, filter: {}, wanted });
  const holder = subscriptions.nodes.find(({ notifications }) => notifications.nodes.length > 0);
  if (!holder) throw notFound('notification_not_found');
  const read = await session.lombard.graphql<Found>(SHOW, { id, subscription: holder.id });
  const notification = read.subscriptions.nodes[0]?.notifications.nodes[0];
  if (!notification) throw notFound('notification_not_found');
  return { ...notification, subscriptionId: holder.id };
}

function instant(option: string, value: unknown): string {
  const parsed = parseInstant(String(value));
  if (!parsed) throw new CommandFailure(`${option}: "${value}" must be an instant, as 2026-11-21T10:00:00Z`, USAGE);
  return parsed.toISOString();
}
