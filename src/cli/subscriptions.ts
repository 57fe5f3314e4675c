import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type { ExtraHeader, NewSubscription, Subscription, WebhookType } from '../../sdk/src/index.ts';
import { WEBHOOK_TYPES } from '../webhooks/notification.ts';
import { CommandFailure, USAGE } from './failure.ts';
import { example, type Frame, someOf } from './frame.ts';
import type { Column } from './printer.ts';
import { uuid } from './refusal.ts';

const SECRET_BYTES = 32;
/** A day in which a receiver can change to the new secret. */
const DEFAULT_OVERLAP_SECONDS = 86_400;

const COLUMNS: Column<Subscription>[] = [
  ['SUBSCRIPTION', ({ id }) => id],
  ['ACTIVE', ({ active, disabledReason }) => (active ? 'yes' : (disabledReason ?? 'no'))],
  ['URL', ({ url }) => url],
  ['TYPES', ({ types }) => types.join(', ')],
];

/** `lombard subscriptions`. */
export function subscriptionCommands(frame: Frame): void {
  const group = frame.program.command('subscriptions').description('webhook subscriptions');
  const list = group.command('list').description('list the subscriptions of the client');
  frame.asContact(example(list, 'subscriptions list'), async ({ session, print }) =>
    print.rows(await session.lombard.subscriptions.list(), COLUMNS),
  );

  const create = withFields(
    group
      .command('create')
      .description('make a subscription; it is active unless --inactive is given')
      .requiredOption('--url <address>', 'where notifications are sent')
      .addOption(
        someOf('--types <list>', 'types of notification, comma separated', WEBHOOK_TYPES).makeOptionMandatory(),
      ),
  );
  example(
    create,
    'subscriptions create --url https://example.com/hooks --types PAYMENT_STATUS_CHANGE --secret whsec_...',
  );
  frame.asContact<Fields & { url: string; types: WebhookType[] }>(create, async ({ options, session, print }) => {
    const { url, types } = options;
    const made = await session.lombard.subscriptions.create({ active: true, ...patchOf(options), url, types });
    print.done(`made subscription ${made.id}`, made);
  });

  const update = withFields(
    group
      .command('update <id>')
      .description('change a subscription; options that are not given change nothing')
      .option('--url <address>', 'where notifications are sent')
      .addOption(someOf('--types <list>', 'replaces the whole list; comma separated', WEBHOOK_TYPES)),
  ).option('--active', 'send notifications again');
  example(update, 'subscriptions update 5f0c... --types PAYMENT_STATUS_CHANGE,TRADE_STATUS_CHANGE');
  frame.asContact<Fields>(update, async ({ args: [given], options, session, print }) => {
    const id = uuid(given, 'subscription_not_found');
    const changed = await session.lombard.subscriptions.update(id, patchOf(options));
    print.done(`changed subscription ${changed.id}`, changed);
  });

  addRotate(frame, group);

  const remove = group.command('delete <id>').description('delete a subscription; what is pending is not sent');
  frame.asContact(example(remove, 'subscriptions delete 5f0c...'), async ({ args, session, print }) => {
    await session.lombard.subscriptions.delete(uuid(args[0], 'subscription_not_found'));
    print.done(`deleted subscription ${args[0]}`, { id: args[0], done: 'deleted' });
  });
  const ping = group.command('ping <id>').description('send a Ping notification');
  frame.asContact(example(ping, 'subscriptions ping 5f0c...'), async ({ args: [id = ''], session, print }) => {
    await session.lombard.subscriptions.ping(id);
    print.done('a Ping is on its way (lombard notifications list shows its result)', { id, done: 'pinged' });
  });
}

/** Adds the command that replaces the signing key with a new one, which is printed once. */
function addRotate(frame: Frame, group: Command): void {
  const rotate = group
    .command('rotate-secret <id>')
    .description('replace the key that notifications are signed with, and print the new one')
    .option('--secret <key>', 'the new key; made here by default')
    .option(
      '--overlap <seconds>',
      `how long notifications are signed with the former key too (${DEFAULT_OVERLAP_SECONDS}: a day)`,
      wholeSeconds,
    );
  example(rotate, 'subscriptions rotate-secret 5f0c...', 'subscriptions rotate-secret 5f0c... --overlap 0');
  frame.asContact(rotate, async ({ args, options, session, print }) => {
    const secret = String(options.secret ?? `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`);
    const seconds = Number(options.overlap ?? DEFAULT_OVERLAP_SECONDS);
    const patch = { secret, previousSecretSeconds: seconds };
    const { id } = await session.lombard.subscriptions.update(uuid(args[0], 'subscription_not_found'), patch);
    print.done(`the new secret of subscription ${id} is ${secret}`, { id, secret, previous_secret_seconds: seconds });
  });
}

function wholeSeconds(value: string): string {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('must be a whole number of seconds');
  return value;
}

function withFields(command: Command): Command {
  return command
    .option('--inactive', 'create it paused')
    .option('--secret <key>', 'the key that notifications are signed with; whsec_ and base64, or any text')
    .option('--header <name:value...>', 'a header for every notification; may be repeated, at most 5');
}

/** The options that are fields of a subscription. */
interface Fields {
  url?: string;
  types?: WebhookType[];
  secret?: string;
  header?: string[];
  active?: boolean;
  inactive?: boolean;
}

function patchOf({ url, types, secret, header, active, inactive }: Fields): Partial<NewSubscription> {
  if (active && inactive) throw new CommandFailure('--active and --inactive: give one of them', USAGE);
  return {
    ...(url === undefined ? {} : { url }),
    ...(types === undefined ? {} : { types }),
    ...(secret === undefined ? {} : { secret }),
    ...(header === undefined ? {} : { extraHeaders: header.map(headerOf) }),
    ...(active ? { active: true } : inactive ? { active: false } : {}),
  };
}

function headerOf(text: string): ExtraHeader {
  const colon = text.indexOf(':');
  if (colon < 1) throw new CommandFailure(`--header: "${text}" must be a name, a colon and a value`, USAGE);
  return { name: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim() };
}
