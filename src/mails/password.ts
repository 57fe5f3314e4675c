import type { Context } from '../context.ts';
import { createPasswordLink, LINK_LIFETIME_SECONDS } from '../identity/sign-in/password-link.ts';
import type { Institution } from '../settings/institution.ts';
import { printable } from '../values/text.ts';
import { type MailBlock, mailTexts } from './mail-page.ts';
import type { DueMail, WrittenMail } from './outbox.ts';
import { MAIL_WORDS } from './texts.ts';

/**
 * The mail with the link for a new password. Each attempt makes a new link, because only hashes of links are stored.
 * @returns undefined where nobody waits for it any longer
 */
export async function writePassword(
  { backgroundPool, clock, addresses }: Context,
  mail: DueMail,
  institution: Institution,
): Promise<WrittenMail | undefined> {
  const now = clock.now();
  if (!mail.enabled || now.getTime() - mail.created_at.getTime() > LINK_LIFETIME_SECONDS * 1_000) return undefined;
  const token = await createPasswordLink(backgroundPool, mail, now);
  if (token === undefined) return undefined;
  const { language } = mail;
  const words = MAIL_WORDS[language];
  const blocks: MailBlock[] = [
    { text: words.greeting(printable(mail.name)) },
    { text: words.passwordOpening },
    { link: `${addresses.auth}/new-password?token=${token}&ui_locales=${language}`, label: words.passwordLink },
    { text: words.passwordValidity },
    { text: words.passwordClosing, muted: true },
  ];
  const content = { language, title: words.passwordSubject, institution, blocks };
  return { subject: words.passwordSubject, ...mailTexts(content) };
}
