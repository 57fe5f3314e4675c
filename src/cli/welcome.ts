import { resolve } from 'node:path';
import type { Db } from '../database/database.ts';
import {
  DEMO_APPLICATION,
  DEMO_CLIENTS,
  DEMO_CONTACTS,
  DEMO_PASSWORD,
  sampleRedirect,
} from '../sandbox/demonstration/institution.ts';
import { type Config, DEFAULT_DATA_DIR } from '../settings/config.ts';
import type { Running } from './running.ts';

/** Whether the database contains the demonstration institution, so that the printed login works. */
export async function holdsDemonstration(db: Db): Promise<boolean> {
  const { rows } = await db.query(
    'select from applications a, contacts c where a.client_id = $1 and c.contact_id = $2 and c.email = $3',
    [DEMO_APPLICATION.client_id, DEMO_CONTACTS[0]?.contact_id, DEMO_CONTACTS[0]?.email],
  );
  return rows.length > 0;
}

/** What to print besides addresses. */
interface Shown {
  /** Whether the database contains the demonstration institution. */
  demonstration: boolean;
  /** Why the sample application was not started; undefined if it runs. */
  sample: string | undefined;
}

/** The text that `lombard demo` prints: the addresses, who can sign in, commands that work unchanged, and what to do next. */
export function welcome(config: Config, running: Running, { demonstration, sample }: Shown): string {
  const token = resolve(config.dataDir, 'operator-token');
  const lines = [
    '',
    'Lombard is ready.',
    '',
    `  client API          ${running.api}   (described at ${running.api}/docs)`,
    `  authorization       ${running.auth}`,
    ...(running.trusted ? [`  trusted             ${running.trusted}`] : []),
    ...(running.operator
      ? [`  operator interface  ${running.operator}   (described at ${running.operator}/docs)`]
      : []),
    ...(config.operatorToken ? [] : [`  operator token      in ${token}`]),
    `  clients' pages      ${running.api}/app`,
    ...(running.operator ? [`  staff's console     ${running.operator}/console`] : []),
    '',
  ];
  const [contact, client] = [DEMO_CONTACTS[0], DEMO_CLIENTS[0]];
  if (!demonstration || !contact || !client) return `${lines.join('\n')}\n`;
  lines.push(
    `  Demonstration login of ${contact.name}, ${client.client_name} (client_id ${client.client_id}):`,
    '',
    `  email               ${contact.email}`,
    `  password            ${DEMO_PASSWORD}`,
    `  application         ${DEMO_APPLICATION.client_id}, secret ${DEMO_APPLICATION.client_secret}`,
    `  redirect_uri        ${sampleRedirect(config.samplePort)}`,
    '',
    '  Sign in, take the token, search payments, in one command:',
    '',
    `${searchCommand(running, config, contact.email, client.client_id)}`,
    '',
  );
  if (running.operator)
    lines.push('  Read the clients as the institution:', '', operatorCommand(running.operator, config, token), '');
  lines.push('What to do next:', '', ...nextSteps(config, sample), '');
  return `${lines.join('\n')}\n`;
}

/** Five lines for somebody who sees Lombard for the first time. */
function nextSteps(config: Config, sample: string | undefined): string[] {
  const { origin } = new URL(sampleRedirect(config.samplePort));
  // A command finds the service through its data directory.
  const place = config.dataDir === DEFAULT_DATA_DIR ? '' : `LOMBARD_DATA_DIR=${quoted(resolve(config.dataDir))} `;
  const command = `${place}npx --no lombard`;
  return [
    sample === undefined
      ? `  1. Open ${origin} and sign in: a sample application shows payments and the webhooks that arrive.`
      : `  1. Start again once ${origin} is free, to see the sample application (${sample}).`,
    `  2. Run \`${command} payments list\` in another terminal, in this directory: it needs no sign-in.`,
    `  3. Run \`${command} listen --forward-to URL\` to get webhooks sent to your own program.`,
    `  4. Run \`${command} trigger PAYMENT_STATUS_CHANGE\` to cause one.`,
    '  5. Read docs/tutorial.md: it takes you to a verified webhook in five minutes.',
  ];
}

function searchCommand(running: Running, config: Config, email: string, clientId: string): string {
  const { client_id: application, client_secret: secret } = DEMO_APPLICATION;
  const redirect = sampleRedirect(config.samplePort);
  const login = `email=${email}&password=${DEMO_PASSWORD}&client_id=${application}&state=demo`;
  const signIn = `curl -s -H 'No-Redirect: application/json' -d '${login}' ${running.auth}/authenticate`;
  const code = `-d "code=$(${signIn} | cut -d '"' -f 4)"`;
  const exchange = `curl -s -u ${application}:${secret} -d grant_type=authorization_code ${code} -d redirect_uri=${redirect}`;
  const token = `$(${exchange} ${running.auth}/token | grep -o '"access_token":"[^"]*' | cut -d '"' -f 4)`;
  return `curl -s -i -H "Authorization: Bearer ${token}" '${running.api}/payments?client_id=${clientId}&page_size=2&order=desc'`;
}

function operatorCommand(operator: string, config: Config, token: string): string {
  const bearer = config.operatorToken ? '$LOMBARD_OPERATOR_TOKEN' : `$(cat ${quoted(token)})`;
  return `curl -s -H "Authorization: Bearer ${bearer}" ${operator}/clients`;
}

/** A path, quoted for a shell. */
function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
