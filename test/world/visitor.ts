import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { cookieName } from '../../src/http/server/cookie.ts';
import type { TestService } from './service.ts';
import { until } from './until.ts';

/** What a test reads of an answer. */
export interface Seen {
  status: number;
  headers: Headers;
  text: string;
  location: URL | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: each test decides what it reads of an answer
  body: any;
}

/** A person's browser, reduced to what the pages need: cookies and forms, no scripts. It does not follow redirects. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  /** Headers of every request, like a browser's. */
  headers: Record<string, string> = { accept: 'text/html,application/xhtml+xml', 'accept-language': 'en-GB,en;q=0.9' };

  async request(url: string | URL, options: RequestInit = {}): Promise<Seen> {
    const headers = new Headers({ ...this.headers, ...(options.headers as Record<string, string>) });
    if (this.cookies.size > 0)
      headers.set('cookie', [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const answer = await fetch(url, { ...options, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/Max-Age=0/i.test(line)) this.cookies.delete(pair.slice(0, at));
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const text = await answer.text();
    const location = answer.headers.get('location');
    const json = answer.headers.get('content-type')?.includes('json') && text !== '';
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      location: location === null ? undefined : new URL(location, url),
      body: json ? JSON.parse(text) : undefined,
    };
  }

  get(url: string | URL): Promise<Seen> {
    return this.request(url);
  }

  post(
    url: string | URL,
    fields: Record<string, string> | string,
    headers: Record<string, string> = {},
  ): Promise<Seen> {
    return this.request(url, {
      method: 'POST',
      body: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  }

  /** Fills in the first form of a page and sends it. */
  submit(page: Seen, filled: Record<string, string>, which = 0): Promise<Seen> {
    const form = formsOf(page.text)[which];
    assert.ok(form, `there is no form in: ${page.text.slice(0, 2_000)}`);
    return this.post(
      form.action,
      { ...form.fields, ...filled },
      { origin: new URL(form.action).origin, 'sec-fetch-site': 'same-origin' },
    );
  }
}

/** The name of a service's cookie in a browser: each listener's has its port. */
export function cookieOf(
  { api, auth, operatorUrl }: Pick<TestService, 'api' | 'auth' | 'operatorUrl'>,
  name: 'app' | 'app-sign-in' | 'console' | 'console-sign-in' | 'browser' | 'session',
): string {
  const address = name.startsWith('app') ? api : name.startsWith('console') ? operatorUrl : auth;
  return cookieName({ name, address });
}

/** The forms of a page with the fields that they would send. */
export function formsOf(page: string): { action: string; fields: Record<string, string> }[] {
  return [...page.matchAll(/<form method="post" action="([^"]*)">([\s\S]*?)<\/form>/g)].map(
    ([, action = '', inside = '']) => ({
      action: decoded(action),
      fields: Object.fromEntries(
        [...inside.matchAll(/<input\b[^>]*>/g)].map(([input]) => [attribute(input, 'name'), attribute(input, 'value')]),
      ),
    }),
  );
}

function attribute(tag: string, name: string): string {
  return decoded(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
}

function decoded(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/** The time step of an authenticator's codes. */
const TIME_STEP_SECONDS = 30;
export const PASSWORD = 'correct horse battery staple';
export const CALLBACK = 'https://app.example.com/callback';

export interface Person {
  email: string;
  contactId: string;
  clientId: string;
  /** The authenticator's secret, base32. */
  totp: string | undefined;
}

/** A contact of a new client. */
export async function createPerson(service: TestService, fields: object = {}): Promise<Person> {
  const client = await service.operator('POST', '/clients', { client_name: 'Acme & Sons' });
  const email = `${randomUUID()}@example.com`;
  const answer = await service.operator('POST', '/contacts', {
    name: 'Ada Lovelace',
    email,
    password: PASSWORD,
    clients: [{ client_id: client.body.client_id }],
    ...fields,
  });
  assert.equal(answer.status, 201, answer.text);
  return { email, contactId: answer.body.contact_id, clientId: client.body.client_id, totp: answer.body.totp?.secret };
}

export interface TestApplication {
  id: string;
  secret: string;
  basic: string;
}

export async function createApplication(service: TestService, fields: object = {}): Promise<TestApplication> {
  const answer = await service.operator('POST', '/applications', {
    name: 'Treasury',
    redirect_uris: [CALLBACK],
    ...fields,
  });
  assert.equal(answer.status, 201, answer.text);
  return credentials(answer.body.client_id, answer.body.client_secret);
}

export function credentials(id: string, secret: string): TestApplication {
  return { id, secret, basic: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

/** The address of the sign-in page for an application. */
export function authorizeUrl(
  service: TestService,
  application: TestApplication,
  more: Record<string, string | undefined> = {},
): string {
  const parameters: Record<string, string | undefined> = {
    client_id: application.id,
    scope: 'openid',
    response_type: 'code',
    state: 'state-1',
    redirect_uri: CALLBACK,
    ...more,
  };
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) text.set(name, value);
  return `${service.auth}/authenticate?${text}`;
}

/** Signs in without a browser, with `No-Redirect`. */
export function signInHeadless(
  service: TestService,
  application: TestApplication,
  person: { email: string },
  more: Record<string, string> = {},
): Promise<Seen> {
  return new Visitor().post(
    `${service.auth}/authenticate`,
    { email: person.email, password: PASSWORD, client_id: application.id, state: 'state-1', ...more },
    { 'no-redirect': 'application/json', accept: '*/*' },
  );
}

/** Sends a form to an endpoint like the token endpoint, authenticated as the application. */
export function tokenCall(
  service: TestService,
  application: TestApplication,
  fields: Record<string, string>,
  path = '/token',
): Promise<Seen> {
  return new Visitor().post(`${service.auth}${path}`, fields, { authorization: application.basic, accept: '*/*' });
}

export function exchange(
  service: TestService,
  application: TestApplication,
  code: string,
  more: Record<string, string> = {},
): Promise<Seen> {
  return tokenCall(service, application, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, ...more });
}

export function refreshTokens(service: TestService, application: TestApplication, token: string): Promise<Seen> {
  return tokenCall(service, application, { grant_type: 'refresh_token', refresh_token: token, scope: 'openid' });
}

/** Signs in and exchanges the code. */
export async function tokensOf(
  service: TestService,
  application: TestApplication,
  person: { email: string },
): Promise<Record<'access_token' | 'refresh_token' | 'id_token', string> & { token_type: string; expires_in: number }> {
  const code = await signInHeadless(service, application, person);
  assert.equal(code.status, 200, code.text);
  const answer = await exchange(service, application, code.body.code);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export function claimsOf(idToken: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
}

/** Moves the sandbox's clock forward, does some work, and moves it back. */
export async function later(service: TestService, seconds: number, work: () => Promise<void>): Promise<void> {
  await advance(service, seconds);
  try {
    await work();
  } finally {
    await advance(service, -seconds);
  }
}

/** Moves the sandbox's clock to the start of the next time step, so that an authenticator's codes stay the same for half a minute. */
export function nextTimeStep(service: TestService): Promise<void> {
  const now = service.service.context.clock.now().getTime();
  return advance(service, TIME_STEP_SECONDS - ((now / 1_000) % TIME_STEP_SECONDS));
}

async function advance(service: TestService, seconds: number): Promise<void> {
  const clock = service.service.context.clock as unknown as { offset: number };
  const wanted = clock.offset + Math.round(seconds * 1_000);
  const answer = await service.operator('PUT', '/clock', { advance_seconds: seconds });
  assert.equal(answer.status, 200, answer.text);
  await until(() => clock.offset === wanted);
}
