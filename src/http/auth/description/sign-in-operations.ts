import {
  CHALLENGE,
  MAX_AGE,
  MAX_NONCE_LENGTH,
  MAX_REDIRECT_URI_LENGTH,
  MAX_STATE_LENGTH,
} from '../../../identity/sign-in/authorization-request.ts';
import { MAX_EMAIL_LENGTH } from '../../../identity/sign-in/sign-in.ts';
import { MAX_HINT_LENGTH } from '../sign-out.ts';
import {
  answer,
  field,
  form,
  type OAuthCode,
  operation,
  page,
  parameter,
  READING,
  redirect,
  text,
} from './operation.ts';

/** The fields of an authorization request, in a query or a form. */
const APPLICATION = field('The application');
const REQUEST = {
  state: field('Comes back in the redirect', MAX_STATE_LENGTH),
  code_challenge: { ...text('PKCE (RFC 7636): the S256 challenge'), pattern: CHALLENGE.source },
  code_challenge_method: { ...text('With code_challenge'), enum: ['S256'] },
  nonce: field('Comes back in the id_token', MAX_NONCE_LENGTH),
};
const OPENID = '(^| )openid( |$)';
const SCOPE = { ...field('Must contain openid'), pattern: OPENID };
const REDIRECT_URI = field('Must be registered', MAX_REDIRECT_URI_LENGTH);
/** These also occur if a page of another origin has sent a form. */
const POSTED: Record<number, OAuthCode[]> = { 403: ['invalid_request'], ...READING };

const STEP = [
  parameter('client_id', APPLICATION, 'demo-app'),
  parameter(
    'code',
    field('The handle of the second factor, as /authenticate gave it'),
    'Zb3kV1x7o2h0T0mO6Rk1c2s3q4w5e6r7',
  ),
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
  client_id: APPLICATION,
  ...REQUEST,
  scope: { ...SCOPE, description: 'Must contain openid; default: openid' },
  redirect_uri: { ...REDIRECT_URI, description: 'One of the registered addresses; required if there are several' },
};
const signIn = (operationId: string, summary: string) =>
  operation({
    operationId,
    tag: 'sign-in',
    pages: true,
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
    codes: {
      400: ['invalid_request', 'invalid_grant', 'unauthorized_client', 'unsupported_response_type', 'invalid_scope'],
      ...POSTED,
    },
  });

const LOGOUT = {
  id_token_hint: field('An id_token of the contact; it spares the question', MAX_HINT_LENGTH),
  client_id: APPLICATION,
  post_logout_redirect_uri: field('One of the registered addresses; needs client_id or id_token_hint'),
  state: field('Comes back in the redirect'),
};
const signOut = { 200: page('A page'), 302: redirect('To the post_logout_redirect_uri') };

/** The operations that sign a contact in and out. */
export const SIGN_IN_OPERATIONS = {
  '/authenticate': {
    get: operation({
      operationId: 'showSignIn',
      tag: 'sign-in',
      pages: true,
      summary: 'Show the sign-in page',
      description: 'The authorization endpoint: an application sends its user there (OpenID Connect Core, 3.1.2).',
      security: [],
      parameters: [
        parameter('client_id', APPLICATION, 'demo-app'),
        parameter('scope', SCOPE, 'openid'),
        parameter('response_type', { ...text('Must be code'), enum: ['code'] }, 'code'),
        parameter('state', REQUEST.state, 'af0ifjsldkj'),
        parameter('redirect_uri', REDIRECT_URI, 'http://127.0.0.1:3000/callback'),
        parameter('code_challenge', REQUEST.code_challenge),
        parameter('code_challenge_method', REQUEST.code_challenge_method),
        parameter('nonce', REQUEST.nonce),
        parameter('prompt', field('none, login or select_account; none alone')),
        parameter('max_age', { ...text('Seconds since the last sign-in, at most'), pattern: MAX_AGE.source }),
        parameter('login_hint', field('An email for the page', MAX_EMAIL_LENGTH)),
        parameter('ui_locales', field('Languages of the page')),
      ],
      success: {
        200: page('The page'),
        302: redirect('Back to the application: with a code where the browser is signed in already, or with an error'),
      },
      codes: { 400: ['invalid_request'] },
    }),
    post: signIn('signIn', 'Sign in with email and password'),
  },
  '/login': { post: signIn('login', 'Sign in; another name of POST /authenticate') },
  '/2fa': {
    get: operation({
      operationId: 'showSecondFactor',
      tag: 'sign-in',
      pages: true,
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
      pages: true,
      summary: 'Send the verification code',
      description:
        'The application authenticates, or the browser by the cookie of the page. A handle takes five wrong codes.',
      security: [{ application: [] }, {}],
      parameters: [...STEP, parameter('redirect_uri', field('As it was sent to /authenticate')), NO_REDIRECT],
      requestBody: form({ verification_code: text('Six digits') }, ['verification_code']),
      success: {
        200: answer('With `No-Redirect: application/json`', 'AuthorizationCode'),
        302: redirect('To the redirect_uri with `code`, `state` and `iss`'),
      },
      codes: { 400: ['invalid_request', 'invalid_grant'], 401: ['invalid_client'], ...POSTED },
    }),
  },
  '/send-verification-code': {
    post: operation({
      operationId: 'sendVerificationCode',
      tag: 'sign-in',
      pages: true,
      summary: 'Send the code again as a text message',
      description: 'At most every 30 seconds.',
      security: [],
      parameters: STEP,
      success: { 204: answer('It was sent'), 302: redirect('A page that posted it goes back to the step') },
      codes: { 400: ['invalid_request', 'invalid_grant'], ...POSTED },
    }),
  },
  '/end-session': {
    get: operation({
      operationId: 'showSignOut',
      tag: 'sign-in',
      pages: true,
      summary: 'Sign the browser out',
      description: 'OpenID Connect RP-Initiated Logout.',
      security: [],
      parameters: Object.entries(LOGOUT).map(([name, { maxLength, ...schema }]) =>
        // The longest hint does not fit into an address: 431.
        parameter(name, name === 'id_token_hint' ? schema : { ...schema, maxLength }),
      ),
      success: signOut,
      codes: { 400: ['invalid_request'] },
    }),
    post: operation({
      operationId: 'signOut',
      tag: 'sign-in',
      pages: true,
      summary: 'Sign the browser out, by POST',
      description: 'OpenID Connect RP-Initiated Logout.',
      security: [],
      requestBody: form(LOGOUT, []),
      success: signOut,
      codes: { 400: ['invalid_request'], ...POSTED },
    }),
  },
};
