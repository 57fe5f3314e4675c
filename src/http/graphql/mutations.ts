import {
  access,
  constant,
  context,
  type FieldArgs,
  type ObjectStep,
  object,
  type Step,
  sideEffect,
} from 'postgraphile/grafast';
import { extendSchema } from 'postgraphile/utils';
import { parseInstant } from '../../values/calendar.ts';
import { Problem } from '../../values/errors.ts';
import { WEBHOOK_TYPES } from '../../webhooks/notification.ts';
import { redeliver, replay } from '../../webhooks/redelivery.ts';
import {
  createSubscription,
  deleteSubscription,
  type SubscriptionPatch,
  updateSubscription,
} from '../../webhooks/subscription.ts';
import type { ExtraHeader } from '../../webhooks/subscription-rules.ts';
import { INSTANT } from './dates.ts';
import { MUTATION_TYPES } from './mutation-types.ts';
import { type GraphqlRequest, needsManage } from './request.ts';

/** The input of a mutation after the schema's checks. The domain checks the values. */
interface Input {
  id: string;
  subscription: Fields & { types: string[]; delivery?: 'HTTP' | 'STREAM' | null };
  patch: Fields;
  subscriptionId: string;
  since: string;
  until?: string | null;
  onlyFailed?: boolean | null;
}
type Fields = Omit<SubscriptionPatch, 'extraHeaders'> & { extraHeaders?: (ExtraHeader | null)[] | null };

function create(request: GraphqlRequest, { subscription }: Input): Promise<string> {
  const { clientId, contactId } = request;
  const input = { ...subscription, extraHeaders: headers(subscription.extraHeaders), clientId, contactId };
  return request.change((tx) => createSubscription(tx, request.act, input, request.settings));
}

/** A UUID in its usual spelling. The scalar accepts other spellings too. */
function canonical(uuid: string): string {
  const digits = uuid.replaceAll('-', '').toLowerCase();
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

async function update(request: GraphqlRequest, input: Input): Promise<string> {
  const id = canonical(input.id);
  const patch = { ...input.patch, extraHeaders: headers(input.patch.extraHeaders) };
  const change = { clientId: request.clientId, id, patch };
  await request.change((tx) => updateSubscription(tx, request.act, change, request.settings));
  return id;
}

async function remove(request: GraphqlRequest, input: Input): Promise<string> {
  const id = canonical(input.id);
  await request.change((tx) => deleteSubscription(tx, request.act, { clientId: request.clientId, id }));
  return id;
}

/** @returns the number of notifications that are sent again */
async function redeliverOne(request: GraphqlRequest, input: Input): Promise<number> {
  const key = { id: canonical(input.id), clientId: request.clientId };
  return (await request.change((tx) => redeliver(tx, request.act, key))).count;
}

/** @returns the number of notifications that are sent again */
async function replaySome(request: GraphqlRequest, input: Input): Promise<number> {
  const { clientId, act } = request;
  const span = {
    clientId,
    field: 'subscriptionId',
    subscriptionId: canonical(input.subscriptionId),
    since: moment('since', input.since),
    until: input.until == null ? act.now : moment('until', input.until),
    onlyFailed: input.onlyFailed ?? false,
  };
  if (span.until < span.since)
    throw new Problem('invalid_body', { field: 'until', message: 'must not be before since' });
  return (await request.change((tx) => replay(tx, act, span))).count;
}

function moment(field: string, text: string): Date {
  const parsed = parseInstant(text);
  if (!parsed) throw new Problem('invalid_body', { field, message: INSTANT });
  return parsed;
}

function headers(list: Fields['extraHeaders']): ExtraHeader[] | null | undefined {
  return list?.map((header, index) => {
    if (header) return header;
    throw new Problem('invalid_body', { field: `extraHeaders[${index}]`, message: 'must be a name and a value' });
  });
}

type Work<T = string> = (request: GraphqlRequest, input: Input) => Promise<T>;

/** Runs a change once for each mutation field, in order. The step's value is the result of the work. */
function change<T>($input: Step<Input>, work: Work<T>, $before: Step = constant(null)): Step<T> {
  return sideEffect([context(), $input, $before], ([{ request }, input]) => {
    needsManage(request, 'mutation');
    return work(request, input);
  });
}

/** The plan of a mutation that sends notifications again. */
const sendingAgain = (work: Work<number>) => (_$root: Step, args: FieldArgs) => {
  const $input = args.getRaw('input');
  return object({ clientMutationId: access($input, 'clientMutationId'), count: change($input, work) });
};

const payload = {
  plans: {
    subscription: ($payload: ObjectStep) => $payload.get('subscription'),
    query: () => object({}),
  },
};

/**
 * The mutations of the service interface. PostGraphile would write the table itself, under the client's role. But the domain must seal
 * secrets, check the rules and write the audit row (src/webhooks/subscription.ts).
 */
export const mutations = extendSchema((build) => {
  const table = build.pgResources.subscriptions;
  if (!table) throw new Error('the schema does not contain the table of subscriptions');
  const find = ($id: Step) => table.get({ id: $id });
  const answer = ($input: Step, $subscription: Step) =>
    object({ clientMutationId: access($input, 'clientMutationId'), subscription: $subscription });
  const changing = (work: Work) => (_$root: Step, args: FieldArgs) => {
    const $input = args.getRaw('input');
    return answer($input, find(change($input, work)));
  };
  return {
    typeDefs: MUTATION_TYPES,
    objects: {
      Query: { plans: { webhookTypes: () => constant(WEBHOOK_TYPES) } },
      Mutation: {
        plans: {
          createSubscription: changing(create),
          updateSubscription: changing(update),
          deleteSubscription(_$root: Step, args: FieldArgs) {
            const $input = args.getRaw('input');
            const $subscription = find(access($input, 'id'));
            // Waits for the row, so that it is read as it was before the change.
            change($input, remove, $subscription.get('id'));
            return answer($input, $subscription);
          },
          redeliverNotification: sendingAgain(redeliverOne),
          replayNotifications: sendingAgain(replaySome),
        },
      },
      CreateSubscriptionPayload: payload,
      UpdateSubscriptionPayload: payload,
      DeleteSubscriptionPayload: payload,
      RedeliverNotificationPayload: { plans: { query: () => object({}) } },
      ReplayNotificationsPayload: { plans: { query: () => object({}) } },
    },
  };
});
