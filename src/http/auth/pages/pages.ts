import type { FastifyReply } from 'fastify';
import type { Refusal } from '../../../identity/oauth-error.ts';
import { MIN_PASSWORD_LENGTH } from '../../../identity/sign-in/password.ts';
import type { Config } from '../../../settings/config.ts';
import type { Language } from '../../../values/language.ts';
import { type Allowed, PageFrame } from '../../page/frame.ts';
import { type Html, html } from '../../page/html.ts';
import { TEXTS } from './texts.ts';

/** A notice above the form of a page. */
interface Notice {
  kind: 'bad' | 'good';
  text: string;
}

export interface SignInForm {
  action: string;
  request: string;
  clientId: string;
  state: string;
  application: string;
  redirectUri: string;
  /** The email that the visitor typed before. */
  email: string;
  refused: Refusal | 'incomplete' | undefined;
}

export interface SecondFactorForm {
  verifyAction: string;
  resendAction: string;
  kind: 'totp' | 'sms';
  application: string;
  redirectUri: string;
  refused: Refusal | undefined;
  resent: boolean;
}

/** The pages of the authorization server: plain HTML forms with one inline style and no script. They are created once from the configuration. */
export class Pages {
  readonly #frame: PageFrame;

  constructor(config: Config) {
    this.#frame = new PageFrame(config, config.authUrl);
  }

  signIn(language: Language, form: SignInForm): Html {
    const t = TEXTS[language];
    const wrong = form.refused === 'wrong_password' || form.refused === 'incomplete';
    const notice = form.refused && bad(form.refused === 'incomplete' ? t.bothNeeded : t.refusals[form.refused]);
    return this.#frame.layout(
      language,
      t.signIn,
      html`<h1>${t.signIn}</h1>
<p>${t.toContinue(form.application)}</p>
${noticeOf(notice)}
<form method="post" action="${form.action}">
<input type="hidden" name="request" value="${form.request}">
<input type="hidden" name="client_id" value="${form.clientId}">
<input type="hidden" name="state" value="${form.state}">
<input type="hidden" name="ui_locales" value="${language}">
<label for="email">${t.email}</label>
<input id="email" name="email" type="email" autocomplete="username" inputmode="email" autocapitalize="none" spellcheck="false" required
  value="${form.email}"${invalid(wrong)}${focus(form.email === '')}>
<label for="password">${t.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${invalid(wrong)}${focus(form.email !== '')}>
<button type="submit">${t.submit}</button>
</form>
<p><a href="/forgotten-password?ui_locales=${language}">${t.forgotten}</a></p>`,
      { footer: t.returnsTo(placeOf(form.redirectUri)) },
    );
  }

  /** Asks for the address to which the link for a new password is sent. */
  forgotten(language: Language, action: string): Html {
    const t = TEXTS[language];
    return this.#frame.layout(
      language,
      t.forgottenTitle,
      html`<h1>${t.forgottenTitle}</h1>
<p>${t.forgottenText}</p>
<form method="post" action="${action}">
<input type="hidden" name="ui_locales" value="${language}">
<label for="email">${t.email}</label>
<input id="email" name="email" type="email" autocomplete="username" inputmode="email" autocapitalize="none" spellcheck="false" required${focus(true)}>
<button type="submit">${t.sendLink}</button>
</form>`,
    );
  }

  /** The same page whether or not the address belongs to a contact. */
  linkSent(language: Language): Html {
    const t = TEXTS[language];
    return this.#frame.layout(
      language,
      t.forgottenTitle,
      html`<h1>${t.forgottenTitle}</h1>${noticeOf({ kind: 'good', text: t.linkSent })}<p>${t.linkSentText}</p>`,
    );
  }

  /** @param form `weak`: whether the password that was sent is too short or too long */
  newPassword(language: Language, form: { action: string; token: string; weak?: boolean }): Html {
    const t = TEXTS[language];
    const weak = form.weak ?? false;
    return this.#frame.layout(
      language,
      t.newPassword,
      html`<h1>${t.newPassword}</h1>
${noticeOf(weak && bad(t.passwordRule))}
<form method="post" action="${form.action}">
<input type="hidden" name="ui_locales" value="${language}">
<input type="hidden" name="token" value="${form.token}">
<label for="password">${t.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="${String(MIN_PASSWORD_LENGTH)}" required
  aria-describedby="rule${weak ? ' said' : ''}"${weak && html` aria-invalid="true"`}${focus(true)}>
<p class="hint" id="rule">${t.passwordRule}</p>
<button type="submit">${t.savePassword}</button>
</form>`,
    );
  }

  /** @param isFirst whether it is the person's first password: no session ends then */
  passwordSet(language: Language, pages: string, isFirst: boolean): Html {
    const t = TEXTS[language];
    const title = isFirst ? t.passwordChosen : t.passwordChanged;
    const text = isFirst ? t.passwordChosenText : t.passwordChangedText;
    return this.#frame.layout(
      language,
      title,
      html`<h1>${title}</h1>${noticeOf({ kind: 'good', text })}<p><a href="${pages}">${t.signIn}</a></p>`,
    );
  }

  linkOver(language: Language, again: string): Html {
    const t = TEXTS[language];
    return this.#frame.layout(
      language,
      t.failed,
      html`<h1>${t.failed}</h1>${noticeOf(bad(t.linkOver))}<p><a href="${again}">${t.forgottenTitle}</a></p>`,
    );
  }

  secondFactor(language: Language, form: SecondFactorForm): Html {
    const t = TEXTS[language];
    const notice = form.refused
      ? bad(t.refusals[form.refused])
      : form.resent
        ? { kind: 'good' as const, text: t.resent }
        : undefined;
    return this.#frame.layout(
      language,
      t.secondStep,
      html`<h1>${t.secondStep}</h1>
<p>${form.kind === 'sms' ? t.enterText : t.enterTotp}</p>
${noticeOf(notice)}
<form method="post" action="${form.verifyAction}">
<input type="hidden" name="ui_locales" value="${language}">
<label for="verification_code">${t.code}</label>
<input class="digits" id="verification_code" name="verification_code" type="text" inputmode="numeric" autocomplete="one-time-code"
  pattern="[0-9 \\-]*" maxlength="27" required
  aria-describedby="code-hint${form.refused ? ' said' : ''}"${form.refused === 'wrong_code' && html` aria-invalid="true"`}${focus(true)}>
<p class="hint" id="code-hint">${t.codeHint}${form.kind === 'totp' && html` ${t.recoveryHint}`}</p>
<button type="submit">${t.verify}</button>
</form>
${
  form.kind === 'sms' &&
  html`<form method="post" action="${form.resendAction}">
<input type="hidden" name="ui_locales" value="${language}">
<button class="second" type="submit">${t.resend}</button>
</form>`
}`,
      { footer: t.returnsTo(placeOf(form.redirectUri)) },
    );
  }

  /** @param shown `fault`: who is responsible; `developers`: the error and its description, for the application's developers */
  failure(
    language: Language,
    shown: { refusal: Refusal | undefined; fault: 'application' | 'service'; developers: string },
  ): Html {
    const t = TEXTS[language];
    const { refusal, developers } = shown;
    const ours = shown.fault === 'service';
    const title = ours || refusal ? t.failed : t.wrongAddress;
    const text = refusal ? t.refusals[refusal] : ours ? t.failedText : t.wrongAddressText;
    return this.#frame.layout(
      language,
      title,
      html`<h1>${title}</h1>
<p>${text}</p>
<p>${t.closeOrReturn}</p>
<details><summary>${t.forDevelopers}</summary><p><code>${developers}</code></p></details>`,
    );
  }

  /** Asks before the browser is signed out, because anybody could have sent the visitor here. */
  signOutQuestion(language: Language, action: string, fields: Record<string, string>): Html {
    const t = TEXTS[language];
    const hidden = Object.entries(fields).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`,
    );
    return this.#frame.layout(
      language,
      t.signOut,
      html`<h1>${t.signOut}</h1>
<p>${t.signOutQuestion}</p>
<form method="post" action="${action}">
${hidden}<button type="submit">${t.signOut}</button>
</form>`,
    );
  }

  signedOut(language: Language): Html {
    const t = TEXTS[language];
    return this.#frame.layout(language, t.signedOut, html`<h1>${t.signedOut}</h1><p>${t.signedOutText}</p>`);
  }

  /** Sends a page. @param allowed see `PageFrame.send` */
  send(reply: FastifyReply, status: number, page: Html, allowed?: Allowed): FastifyReply {
    return this.#frame.send(reply, status, page, allowed);
  }
}

function noticeOf(notice: Notice | undefined | false | ''): Html | undefined {
  if (!notice) return undefined;
  const role = notice.kind === 'bad' ? 'alert' : 'status';
  return html`<p class="said ${notice.kind}" id="said" role="${role}">${notice.text}</p>`;
}

function bad(text: string): Notice {
  return { kind: 'bad', text };
}

function invalid(wrong: boolean): Html | false {
  return wrong && html` aria-invalid="true" aria-describedby="said"`;
}

function focus(here: boolean): Html | false {
  return here && html` autofocus`;
}

/** The application's place in words that its user knows: its host, or the scheme of an application on the device. */
function placeOf(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return host || protocol.replace(/:$/, '');
}
