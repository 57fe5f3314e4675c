import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { refreshApprovers } from '../../approvals/refresh.ts';
import type { Context } from '../../context.ts';
import { eraseContact, findErasure } from '../../erasure/erasure.ts';
import {
  authorisesFor,
  CONTACT,
  createContact,
  findContact,
  listContacts,
  updateContact,
} from '../../identity/people/contact.ts';
import { DEFAULT_PERMISSIONS } from '../../identity/people/permission.ts';
import { newTotp } from '../../identity/second-factor/totp.ts';
import { hashPassword } from '../../identity/sign-in/password.ts';
import { closed, Nullable, Text } from '../../values/schemas.ts';
import { operation, type RequestOf, serve } from '../schemas/operation.ts';
import { sendList } from '../schemas/reply.ts';
import {
  ClientPageQuery,
  errors,
  idPath,
  jsonAnswer,
  listAnswer,
  listRequest,
  Status,
  uuidPath,
} from '../schemas/schemas.ts';
import { change } from './change.ts';
import { IDENTITY, READ, SYSTEM } from './listener.ts';

export const ContactBody = Type.Object(CONTACT.given(), {
  ...closed,
  title: 'ContactInput',
  examples: [
    {
      name: 'Ada Byron',
      email: 'ada@acme.example',
      password: 'correct horse battery',
      clients: [{ client_id: 'CLI000001' }],
    },
  ],
});
const ContactPatch = Type.Partial(Type.Object(CONTACT.changed), { ...closed, title: 'ContactPatch' });
const ContactRecord = Type.Object(
  {
    ...CONTACT.shown,
    totp: Type.Optional(
      Type.Object(
        { secret: Type.String(), uri: Type.String({ description: 'For the QR code of an authenticator' }) },
        { description: 'Shown once, in the answer that enrols the contact' },
      ),
    ),
  },
  {
    title: 'Contact',
    examples: [
      {
        contact_id: 'CON000001',
        name: 'Ada Byron',
        email: 'ada@acme.example',
        phone: null,
        status: 'enabled',
        second_factor: 'none',
        trusted_access: false,
        language: 'en',
        approval_mails: true,
        clients: [{ client_id: 'CLI000001', permissions: [...DEFAULT_PERMISSIONS] }],
      },
    ],
  },
);

const ContactList = Type.Object({
  ...ClientPageQuery.properties,
  email: Type.Optional(Text('The whole email, in any case', 254)),
  status: Type.Optional(Status),
});

const CREATE = operation('POST /contacts', {
  config: { ...IDENTITY, location: '/contacts/{contact_id}' },
  schema: {
    operationId: 'createContact',
    tags: ['contacts'],
    summary: 'Create a contact',
    body: ContactBody,
    response: {
      201: jsonAnswer('The contact', ContactRecord),
      ...errors(400, 404, 409, 502, 'client_not_found', 'already_exists'),
    },
  },
});

const LIST = operation('GET /contacts', {
  config: READ,
  schema: {
    operationId: 'listContacts',
    tags: ['contacts'],
    summary: 'List contacts',
    querystring: ContactList,
    response: { 200: listAnswer('A page of contacts', ContactRecord), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /contacts/{contact_id}', {
  config: READ,
  schema: {
    operationId: 'getContact',
    tags: ['contacts'],
    summary: 'Read a contact',
    params: idPath('contact_id'),
    response: { 200: jsonAnswer('The contact', ContactRecord), ...errors(404, 502, 'contact_not_found') },
  },
});

const CHANGE = operation('PATCH /contacts/{contact_id}', {
  config: IDENTITY,
  schema: {
    operationId: 'updateContact',
    tags: ['contacts'],
    summary: 'Change a contact',
    params: idPath('contact_id'),
    body: ContactPatch,
    response: {
      200: jsonAnswer('The contact', ContactRecord),
      ...errors(
        400,
        404,
        409,
        502,
        'contact_not_found',
        'client_not_found',
        'already_exists',
        'transition_not_allowed',
      ),
    },
  },
});

const ERASURE_ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const ERASE_CONTACT = operation('POST /contacts/{contact_id}/erase', {
  config: SYSTEM,
  schema: {
    operationId: 'eraseContact',
    tags: ['contacts'],
    summary: 'Erase the person of a disabled contact',
    description: 'Replaces name, email and phone wherever they stand. A second time it gives the same erasure.',
    params: idPath('contact_id'),
    response: {
      202: jsonAnswer(
        'It is under way',
        Type.Object({ erasure_id: Type.String() }, { title: 'BegunErasure', examples: [{ erasure_id: ERASURE_ID }] }),
      ),
      ...errors(403, 404, 409, 502, 'contact_not_found', 'contact_not_disabled'),
    },
  },
});
const READ_ERASURE = operation('GET /erasures/{erasure_id}', {
  config: SYSTEM,
  schema: {
    operationId: 'getErasure',
    tags: ['contacts'],
    summary: 'Read the progress of an erasure',
    params: uuidPath('erasure_id', 'Erasure'),
    response: {
      200: jsonAnswer(
        'The erasure',
        Type.Object(
          {
            state: Type.Enum(['running', 'done']),
            started_at: Type.String(),
            ended_at: Nullable(Type.String()),
            rows: Type.Integer({ description: 'Rows that were replaced so far' }),
          },
          {
            title: 'Erasure',
            examples: [
              { state: 'done', started_at: '2026-11-21T10:00:00.123Z', ended_at: '2026-11-21T10:00:04.567Z', rows: 31 },
            ],
          },
        ),
      ),
      ...errors(403, 404, 502, 'erasure_not_found'),
    },
  },
});

export type ContactOperations =
  | typeof CREATE
  | typeof LIST
  | typeof READ_ONE
  | typeof CHANGE
  | typeof ERASE_CONTACT
  | typeof READ_ERASURE;

/** The people who sign in, and their permissions for each client (docs/operator-interface.md). */
export function operatorContactRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;
  serve(app, CREATE, (request, reply) => create(context, request, reply));
  serve(app, LIST, async ({ query }, reply) =>
    sendList(reply, await listContacts(pool, { ...listRequest(query), email: query.email, status: query.status })),
  );
  serve(app, READ_ONE, (request) => findContact(pool, request.params.contact_id));
  serve(app, CHANGE, (request, reply) => update(context, request, reply));
  serve(
    app,
    ERASE_CONTACT,
    change(context, 202, (tx, act, request) =>
      eraseContact(tx, act, { vault: context.vault, contactId: request.params.contact_id }),
    ),
  );
  serve(app, READ_ERASURE, ({ params }) => findErasure(pool, params.erasure_id));
}

/** Hashing a password takes 20 ms of a core, so it is done before the transaction. */
async function create(context: Context, request: RequestOf<typeof CREATE>, reply: FastifyReply) {
  const { password, ...input } = request.body;
  const passwordHash = password === undefined ? null : await hashPassword(password);
  const totp = input.second_factor === 'totp' ? newTotp(context.config.institution.name, input.email) : undefined;
  const work = change(context, 201, async (tx, act) => {
    const contact = await createContact(tx, act, context.vault, {
      ...input,
      passwordHash,
      totpSecret: totp?.secret,
    });
    await refreshApprovers(tx, act, ...authorisesFor(contact));
    return totp ? { ...contact, totp } : contact;
  });
  return work(request, reply);
}

async function update(context: Context, request: RequestOf<typeof CHANGE>, reply: FastifyReply) {
  const { password, ...patch } = request.body;
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  const work = change(context, 200, async (tx, act) => {
    const before = await findContact(tx, request.params.contact_id);
    const enrols = patch.second_factor === 'totp' && before.second_factor !== 'totp';
    const totp = enrols ? newTotp(context.config.institution.name, patch.email ?? before.email) : undefined;
    const { contact, touchedClients } = await updateContact(tx, act, context.vault, {
      contactId: request.params.contact_id,
      patch: {
        ...patch,
        passwordHash,
        totpSecret: totp?.secret,
      },
    });
    await refreshApprovers(tx, act, ...touchedClients);
    return totp ? { ...contact, totp } : contact;
  });
  return work(request, reply);
}
