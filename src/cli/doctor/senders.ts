import { request } from 'undici';
import type { Config } from '../../config.ts';
import { Mailer } from '../../mail.ts';
import { type Finding, failed, ok } from './finding.ts';

const ANSWER_TIMEOUT_MS = 10_000;

/** The mail server and the gateway of text messages. Nothing is sent. */
export async function checkSenders(config: Config): Promise<Finding[]> {
  return [await checkMail(config), await checkTexts(config)];
}

async function checkMail(config: Config): Promise<Finding> {
  if (config.smtpUrl === undefined) return ok('mail', "SMTP_URL is not set: mails go to the operator's mailbox");
  const mailer = new Mailer(config);
  try {
    await mailer.verify();
    return ok('mail', `${new URL(config.smtpUrl).host} takes mails from ${config.mailFrom}`);
  } catch (error) {
    return failed(
      'mail',
      `SMTP_URL: ${new URL(config.smtpUrl).host} refuses (${(error as Error).message}): check address and login`,
    );
  } finally {
    mailer.close();
  }
}

async function checkTexts({ smsUrl }: Config): Promise<Finding> {
  if (smsUrl === undefined) return ok('text messages', "LOMBARD_SMS_URL is not set: texts go to the operator's list");
  const { origin } = new URL(smsUrl);
  try {
    // Whatever it answers to a question that sends nothing: it is there.
    const { body } = await request(origin, { method: 'HEAD', signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    await body.dump();
    return ok('text messages', `${origin} answers`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return failed(
      'text messages',
      `LOMBARD_SMS_URL: ${origin} does not answer (${code ?? message}): check the address`,
    );
  }
}
