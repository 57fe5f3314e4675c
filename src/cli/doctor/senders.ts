import { Mailer } from '../../mails/mail.ts';
import { StaffProvider } from '../../operator/staff-provider.ts';
import type { Config } from '../../settings/config.ts';
import { late } from '../../values/late.ts';
import { codeOf, fieldsOf, messageOf } from '../../values/unknown.ts';
import { type Finding, failed, ok } from './finding.ts';

const undici = late((require) => require('undici') as typeof import('undici'));

const ANSWER_TIMEOUT_MS = 10_000;

/**
 * Checks what the service calls besides its database: the mail server, the text message gateway, the staff's provider and the trace
 * collector. Nothing is sent.
 */
export async function checkSenders(config: Config): Promise<Finding[]> {
  return [await checkMail(config), await checkTexts(config), await checkStaff(config), await checkTraces(config)];
}

async function checkMail(config: Config): Promise<Finding> {
  if (config.smtpUrl === undefined) return ok('mail', "SMTP_URL is not set: mails go to the operator's mailbox");
  const mailer = new Mailer(config.smtpUrl, config);
  try {
    await mailer.verify();
    return ok('mail', `${new URL(config.smtpUrl).host} takes mails from ${config.mailFrom}`);
  } catch (error) {
    return failed(
      'mail',
      `SMTP_URL: ${new URL(config.smtpUrl).host} refuses (${messageOf(error)}): check address and login`,
    );
  } finally {
    mailer.close();
  }
}

async function checkTexts({ smsUrl }: Config): Promise<Finding> {
  if (smsUrl === undefined) return ok('text messages', "LOMBARD_SMS_URL is not set: texts go to the operator's list");
  return checkAnswers('text messages', 'LOMBARD_SMS_URL', smsUrl);
}

/** Without the provider, staff cannot sign in. */
async function checkStaff({ staff }: Config): Promise<Finding> {
  if (!staff) return ok('staff sign-in', 'LOMBARD_STAFF_ISSUER is not set: operator tokens sign in');
  try {
    await new StaffProvider(staff).answers();
    return ok('staff sign-in', `${staff.issuer} answers`);
  } catch (error) {
    return failed(
      'staff sign-in',
      `LOMBARD_STAFF_ISSUER: ${staff.issuer} cannot be used (${reasonOf(error)}), so no staff signs in: check the address and the provider`,
    );
  }
}

async function checkTraces({ tracesUrl }: Config): Promise<Finding> {
  if (tracesUrl === undefined) return ok('traces', 'OTEL_EXPORTER_OTLP_ENDPOINT is not set: none are collected');
  return checkAnswers('traces', 'OTEL_EXPORTER_OTLP_ENDPOINT', tracesUrl);
}

/** Sends a request that has no effect. Any answer means that the service is there. */
async function checkAnswers(check: string, variable: string, url: string): Promise<Finding> {
  const { origin } = new URL(url);
  try {
    const { body } = await undici().request(origin, { method: 'HEAD', signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    await body.dump();
    return ok(check, `${origin} answers`);
  } catch (error) {
    return failed(check, `${variable}: ${origin} does not answer (${reasonOf(error)}): check the address`);
  }
}

/** The innermost reason that a library gives. */
function reasonOf(error: unknown): string {
  const { cause } = fieldsOf(error);
  return cause === undefined ? (codeOf(error) ?? messageOf(error)) : reasonOf(cause);
}
