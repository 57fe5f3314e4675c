import type { FastifyReply } from 'fastify';
import type { Config } from '../../settings/config.ts';
import type { Language } from '../../values/language.ts';
import { PageFrame } from '../page/frame.ts';
import { html } from '../page/html.ts';

/** The reasons that are shown to a person without a session. */
export type Refusal = 'failed' | 'norole' | 'unreachable' | 'wrongtoken';

interface Texts {
  title: string;
  token: string;
  tokenHint: string;
  signIn: string;
  signedOut: string;
  stillSignedIn: string;
  signOutThere: string;
  signedOutThere: string;
  notFound: string;
  home: string;
  refused: string;
  refusals: Record<Refusal, string>;
}

const TEXTS: Record<Language, Texts> = {
  en: {
    title: 'Sign in to the console',
    token: 'Operator token',
    tokenHint: 'The token decides what you may do. It stays on the server; your browser gets a session.',
    signIn: 'Sign in',
    signedOut: 'You are signed out',
    stillSignedIn: 'Where others use this browser too: you may still be signed in at your institution.',
    signOutThere: 'Sign out at your institution too',
    signedOutThere: 'You are signed out at your institution too.',
    notFound: 'This page does not exist',
    home: 'Go to the first page',
    refused: 'You are not signed in',
    refusals: {
      failed: 'The sign-in took too long, was begun in another window, or was refused.',
      norole: 'Your account has no role here. Ask whoever manages the groups of your institution.',
      unreachable: 'The sign-in of your institution does not answer. Try again in a moment.',
      wrongtoken: 'This is not a valid operator token.',
    },
  },
  de: {
    title: 'An der Konsole anmelden',
    token: 'Betreiber-Token',
    tokenHint: 'Das Token bestimmt, was Sie dürfen. Es bleibt auf dem Server; Ihr Browser erhält eine Sitzung.',
    signIn: 'Anmelden',
    signedOut: 'Sie sind abgemeldet',
    stillSignedIn: 'Falls auch andere diesen Browser benutzen: Bei Ihrem Institut sind Sie vielleicht noch angemeldet.',
    signOutThere: 'Auch beim Institut abmelden',
    signedOutThere: 'Auch bei Ihrem Institut sind Sie abgemeldet.',
    notFound: 'Diese Seite gibt es nicht',
    home: 'Zur ersten Seite',
    refused: 'Sie sind nicht angemeldet',
    refusals: {
      failed: 'Die Anmeldung hat zu lange gedauert, wurde in einem anderen Fenster begonnen oder abgelehnt.',
      norole: 'Ihr Konto hat hier keine Rolle. Fragen Sie, wer die Gruppen Ihres Instituts verwaltet.',
      unreachable: 'Die Anmeldung Ihres Instituts antwortet nicht. Versuchen Sie es gleich noch einmal.',
      wrongtoken: 'Das ist kein gültiges Betreiber-Token.',
    },
  },
  fr: {
    title: 'Se connecter à la console',
    token: 'Jeton d’opérateur',
    tokenHint:
      'Le jeton décide de ce que vous pouvez faire. Il reste sur le serveur ; votre navigateur reçoit une session.',
    signIn: 'Se connecter',
    signedOut: 'Vous êtes déconnecté',
    stillSignedIn:
      'Si d’autres utilisent aussi ce navigateur : vous êtes peut-être encore connecté auprès de votre établissement.',
    signOutThere: 'Se déconnecter aussi de l’établissement',
    signedOutThere: 'Vous êtes aussi déconnecté de votre établissement.',
    notFound: 'Cette page n’existe pas',
    home: 'Aller à la première page',
    refused: 'Vous n’êtes pas connecté',
    refusals: {
      failed: 'La connexion a pris trop de temps, a été commencée dans une autre fenêtre ou a été refusée.',
      norole:
        'Votre compte n’a aucun rôle ici. Adressez-vous à la personne qui gère les groupes de votre établissement.',
      unreachable: 'La connexion de votre établissement ne répond pas. Réessayez dans un instant.',
      wrongtoken: 'Ce n’est pas un jeton d’opérateur valable.',
    },
  },
  es: {
    title: 'Iniciar sesión en la consola',
    token: 'Token de operador',
    tokenHint: 'El token decide lo que puede hacer. Se queda en el servidor; su navegador recibe una sesión.',
    signIn: 'Iniciar sesión',
    signedOut: 'Ha cerrado la sesión',
    stillSignedIn: 'Si otras personas usan este navegador: es posible que siga conectado en su institución.',
    signOutThere: 'Cerrar sesión también en la institución',
    signedOutThere: 'También ha cerrado la sesión en su institución.',
    notFound: 'Esta página no existe',
    home: 'Ir a la primera página',
    refused: 'No ha iniciado sesión',
    refusals: {
      failed: 'El inicio de sesión ha tardado demasiado, se empezó en otra ventana o fue rechazado.',
      norole: 'Su cuenta no tiene ningún papel aquí. Pregunte a quien administra los grupos de su institución.',
      unreachable: 'El inicio de sesión de su institución no responde. Inténtelo de nuevo en un momento.',
      wrongtoken: 'No es un token de operador válido.',
    },
  },
};

const STATUS_OF: Record<Refusal, number> = { failed: 400, norole: 403, unreachable: 502, wrongtoken: 401 };

/** The plain pages of {operator_url}/console, for people without a session. They need no script. */
export class ConsolePages {
  readonly #frame: PageFrame;

  constructor(config: Config) {
    this.#frame = new PageFrame(config, config.operatorUrl);
  }

  /** The page to sign in with an operator token. @param refusal of the previous attempt */
  tokenForm(reply: FastifyReply, language: Language, refusal?: Refusal): FastifyReply {
    const t = TEXTS[language];
    const body = html`<h1>${t.title}</h1>
${refusal && html`<p class="said bad" role="alert">${t.refusals[refusal]}</p>`}
<form method="post" action="/console/sign-in">
<label for="token">${t.token}</label>
<input id="token" name="token" type="password" autocomplete="off" required autofocus aria-describedby="hint">
<p id="hint" class="hint">${t.tokenHint}</p>
<button>${t.signIn}</button>
</form>`;
    const status = refusal ? STATUS_OF[refusal] : 200;
    return this.#frame.send(reply, status, this.#frame.layout(language, t.title, body));
  }

  refused(reply: FastifyReply, language: Language, refusal: Refusal): FastifyReply {
    const t = TEXTS[language];
    const body = html`<h1>${t.refused}</h1><p class="said bad" role="alert">${t.refusals[refusal]}</p><p><a href="/console">${t.signIn}</a></p>`;
    return this.#frame.send(reply, STATUS_OF[refusal], this.#frame.layout(language, t.refused, body));
  }

  /**
   * The page after signing out. It does not lead straight to a new sign-in, because the provider would sign the person in without asking.
   * @param there the address to sign out at the provider; null: it offers none; undefined: there is no provider; `done`: already signed out
   * there
   */
  signedOut(reply: FastifyReply, language: Language, there: string | null | undefined): FastifyReply {
    const t = TEXTS[language];
    const said = there === 'done' ? t.signedOutThere : there === undefined ? '' : t.stillSignedIn;
    const way = there && there !== 'done' && html`<p><a href="${there}">${t.signOutThere}</a></p>`;
    const body = html`<h1>${t.signedOut}</h1>${said && html`<p>${said}</p>`}${way}<p><a href="/console">${t.signIn}</a></p>`;
    return this.#frame.send(reply, 200, this.#frame.layout(language, t.signedOut, body));
  }

  notFound(reply: FastifyReply, language: Language): FastifyReply {
    const { notFound, home } = TEXTS[language];
    return this.#frame.send(
      reply,
      404,
      this.#frame.layout(language, notFound, html`<h1>${notFound}</h1><p><a href="/console">${home}</a></p>`),
    );
  }
}
