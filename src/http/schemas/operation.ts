import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Exact } from '../../values/json.ts';
import type { Sent } from './reply.ts';
import type { JsonAnswer } from './schemas.ts';

/** The schemas of an operation's request and of its answers. */
interface Schemas {
  params?: TSchema;
  querystring?: TSchema;
  body?: TSchema;
  response?: object;
}

/** A declared operation: its address, such as `GET /payments/{payment_id}`, what it needs, and its schemas. */
export interface Operation<Address extends string = string, S extends Schemas = Schemas>
  extends Omit<RouteShorthandOptions, 'schema'> {
  address: Address;
  schema: S;
}

/** Declares an operation. The types of its requests, and of calls from the browser, follow from its schemas. */
export function operation<const Address extends string, S extends Schemas>(
  address: Address,
  declared: Omit<Operation<Address, S>, 'address'>,
): Operation<Address, S> {
  return { address, ...declared };
}

type Taken<S> = S extends TSchema ? Static<S> : unknown;
/** The values of a request that has passed the schemas. In the type, a field with a default may be missing. */
export interface RouteOf<O extends Operation> {
  Params: Taken<O['schema']['params']>;
  Querystring: Taken<O['schema']['querystring']>;
  Body: Taken<O['schema']['body']>;
}
/** A request of an operation. */
export type RequestOf<O extends Operation> = FastifyRequest<RouteOf<O>>;

/** The type of a value after it was sent as JSON. */
type Json<T> = T extends Date
  ? string
  : T extends Exact
    ? number
    : T extends (infer Item)[]
      ? Json<Item>[]
      : T extends object
        ? { [Name in keyof T]: Json<T[Name]> }
        : T;
type Answers<R> = {
  [Status in keyof R]: R[Status] extends JsonAnswer<infer S extends TSchema> ? Json<Static<S>> : undefined;
};
/** The type of an operation's successful answer. */
export type AnswerOf<O extends Operation> = Answers<O['schema']['response']>[keyof O['schema']['response']];

/** The type of a value that is sent as JSON. An instant becomes its text, and a decimal keeps all its digits. */
type Answerable<T> = T extends string
  ? string extends T
    ? string | Date
    : T
  : T extends (infer Item)[]
    ? Answerable<Item>[]
    : T extends object
      ? { [Name in keyof T]: Answerable<T[Name]> }
      : T extends number
        ? T | Exact
        : T;
type Handled<O extends Operation> = Answerable<AnswerOf<O>> | Sent<Answerable<AnswerOf<O>>>;

/** Registers an operation. */
export function serve<O extends Operation>(
  app: FastifyInstance,
  { address, ...options }: O,
  handler: (request: RequestOf<O>, reply: FastifyReply) => Handled<O> | Promise<Handled<O>>,
): void {
  const [method = '', template = ''] = address.split(' ');
  app.route<RouteOf<O>>({ ...options, method, url: template.replace(/\{(\w+)\}/g, ':$1'), handler });
}
