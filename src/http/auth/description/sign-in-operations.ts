import { answer, form, operation, page, parameter, READING, redirect, text } from './operation.ts';

const STEP = [
  parameter('client_id', 'The application', 'demo-app'),
  parameter('code', 'The handle of the second factor, as /authenticate gave it', 'Zb3kV1x7o2h0T0mO6Rk1c2s3q4w5e6r7'),
];
const NO_REDIRECT = {
  name: 'No-Redirect',
  in: 'header',
  required: false,
  description: '`application/json`: the code comes in a JSON body, with status 200, and not in a redirect',
  schema: { type: 'string', enum: ['application/json'] },
};
const CREDENTIALS = {
  email: text('Email of the contact'),
  password: text('Its password'),
  client_id: text('The application'),
  state: text('Comes back in the redirect'),
  scope: text('Must contain openid; default: openid'),
  redirect_uri: text('One of the registered addresses; required if there are several'),
  code_challenge: text('PKCE (RFC 7636): the S256 challenge'),
  code_challenge_method: text('S256'),
  nonce: text('Comes back in the id_token'),
};
const signIn = (operationId: string, summary: string) =>
  operation({
    operationId,
    tag: 'sign-in',
    summary,
    description:
      'The sign-in page posts here too. Ten wrong passwords within 15 minutes lock the email for 15 minutes.',
    security: [],
    parameters: [NO_REDIRECT],
    requestBody: form(CREDENTIALS, ['email', 'password', 'client_id', 'state']),
    success: {
      200: answer('With `No-Redirect: application/json`', 'SignedIn'),
      302: redirect(
        'To the redirect_uri with `code`, `state` and `iss`, or with `error`; or to the step of the second factor',
      ),
    },
    codes: { 400: ['invalid_request', 'invalid_grant', 'unauthorized_client', 'invalid_scope'], ...READING },
  });

const LOGOUT = {
  id_token_hint: 'An id_token of the contact; it spares the question',
  client_id: 'The application',
  post_logout_redirect_uri: 'One of the registered addresses',
  state: 'Comes back in the redirect',
};
const signOut = { 200: page('A page'), 302: redirect('To the post_logout_redirect_uri') };

/** What signs a contact in and out. */
export const SIGN_IN_OPERATIONS = {
  '/authenticate': {
    get: operation({
      operationId: 'showSignIn',
      tag: 'sign-in',
      summary: 'Show the sign-in page',
      description: 'The authorization endpoint: an application sends its user there (OpenID Connect Core, 3.1.2).',
      security: [],
      parameters: [
        parameter('client_id', 'The application', 'demo-app'),
        parameter('scope', 'Must contain openid', 'openid'),
        parameter('response_type', 'Must be code', 'code'),
        parameter('state', 'Comes back in the redirect', 'af0ifjsldkj'),
        parameter('redirect_uri', 'Must be registered', 'http://127.0.0.1:3000/callback'),
        parameter('code_challenge', 'PKCE (RFC 7636)', undefined, false),
        parameter('code_challenge_method', 'S256', undefined, false),
        parameter('nonce', 'Comes back in the id_token', undefined, false),
        parameter('prompt', 'none, login or select_account', undefined, false),
        parameter('max_age', 'Seconds since the last sign-in, at most', undefined, false),
        parameter('login_hint', 'An email for the page', undefined, false),
        parameter('ui_locales', 'Languages of the page', undefined, false),
      ],
      success: {
        200: page('The page'),
        302: redirect('Back to the application: with a code where the browser is signed in already, or with an error'),
      },
      codes: { 400: ['invalid_request'], 401: ['invalid_client'] },
    }),
    post: signIn('signIn', 'Sign in with email and password'),
  },
  '/login': { post: signIn('login', 'Sign in; another name of POST /authenticate') },
  '/2fa': {
    get: operation({
      operationId: 'showSecondFactor',
      tag: 'sign-in',
      summary: 'Show the page of the second factor',
      description: 'POST /authenticate sends the browser there.',
      security: [],
      parameters: STEP,
      success: { 200: page('The page') },
      codes: { 400: ['invalid_request', 'invalid_grant'] },
    }),
  },
  '/verify': {
    post: operation({
      operationId: 'verifySecondFactor',
      tag: 'sign-in',
      summary: 'Send the verification code',
      description:
        'The application authenticates, or the browser by the cookie of the page. A handle takes five wrong codes.',
      security: [{ application: [] }, {}],
      parameters: [
        ...STEP,
        parameter('redirect_uri', 'As it was sent to /authenticate', undefined, false),
        NO_REDIRECT,
      ],
      requestBody: form({ verification_code: text('Six digits') }, ['verification_code']),
      success: {
        200: answer('With `No-Redirect: application/json`', 'AuthorizationCode'),
        302: redirect('To the redirect_uri with `code`, `state` and `iss`'),
      },
      codes: { 400: ['invalid_request', 'invalid_grant'], 401: ['invalid_client'], ...READING },
    }),
  },
  '/send-verification-code': {
    post: operation({
      operationId: 'sendVerificationCode',
      tag: 'sign-in',
      summary: 'Send the code again as a text message',
      description: 'At most every 30 seconds.',
      security: [],
      parameters: STEP,
      success: { 204: answer('It was sent'), 302: redirect('A page that posted it goes back to the step') },
      codes: { 400: ['invalid_request', 'invalid_grant'], ...READING },
    }),
  },
  '/end-session': {
    get: operation({
      operationId: 'showSignOut',
      tag: 'sign-in',
      summary: 'Sign the browser out',
      description: 'OpenID Connect RP-Initiated Logout.',
      security: [],
      parameters: Object.entries(LOGOUT).map(([name, what]) => parameter(name, what, undefined, false)),
      success: signOut,
      codes: { 400: ['invalid_request'] },
    }),
    post: operation({
      operationId: 'signOut',
      tag: 'sign-in',
      summary: 'Sign the browser out, by POST',
      description: 'OpenID Connect RP-Initiated Logout.',
      security: [],
      requestBody: form(Object.fromEntries(Object.entries(LOGOUT).map(([name, what]) => [name, text(what)])), []),
      success: signOut,
      codes: { 400: ['invalid_request'], ...READING },
    }),
  },
};
