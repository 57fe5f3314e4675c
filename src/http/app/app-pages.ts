import type { FastifyReply } from 'fastify';
import type { Config } from '../../settings/config.ts';
import type { Language } from '../../values/language.ts';
import { PageFrame } from '../page/frame.ts';
import { html } from '../page/html.ts';

interface Texts {
  notFound: string;
  notFoundText: string;
  home: string;
  failed: string;
  failedText: string;
  signIn: string;
}

const TEXTS: Record<Language, Texts> = {
  en: {
    notFound: 'This page does not exist',
    notFoundText: 'The address is wrong, or what it showed is gone.',
    home: 'Go to the first page',
    failed: 'You are not signed in',
    failedText: 'The sign-in took too long, or was begun in another window.',
    signIn: 'Sign in',
  },
  de: {
    notFound: 'Diese Seite gibt es nicht',
    notFoundText: 'Die Adresse ist falsch, oder was sie zeigte, gibt es nicht mehr.',
    home: 'Zur ersten Seite',
    failed: 'Sie sind nicht angemeldet',
    failedText: 'Die Anmeldung hat zu lange gedauert oder wurde in einem anderen Fenster begonnen.',
    signIn: 'Anmelden',
  },
  fr: {
    notFound: 'Cette page n’existe pas',
    notFoundText: 'L’adresse est fausse, ou ce qu’elle montrait n’existe plus.',
    home: 'Aller à la première page',
    failed: 'Vous n’êtes pas connecté',
    failedText: 'La connexion a pris trop de temps ou a été commencée dans une autre fenêtre.',
    signIn: 'Se connecter',
  },
  es: {
    notFound: 'Esta página no existe',
    notFoundText: 'La dirección es incorrecta, o lo que mostraba ya no existe.',
    home: 'Ir a la primera página',
    failed: 'No ha iniciado sesión',
    failedText: 'El inicio de sesión ha tardado demasiado o se empezó en otra ventana.',
    signIn: 'Iniciar sesión',
  },
};

/** The pages of {base_url}/app that need no script: for unknown addresses, and for a failed sign-in. */
export class AppPages {
  readonly #frame: PageFrame;

  constructor(config: Config) {
    this.#frame = new PageFrame(config, config.apiUrl);
  }

  notFound(reply: FastifyReply, language: Language): FastifyReply {
    const t = TEXTS[language];
    const body = html`<h1>${t.notFound}</h1><p>${t.notFoundText}</p><p><a href="/app">${t.home}</a></p>`;
    return this.#frame.send(reply, 404, this.#frame.layout(language, t.notFound, body));
  }

  signInFailed(reply: FastifyReply, language: Language): FastifyReply {
    const t = TEXTS[language];
    const body = html`<h1>${t.failed}</h1><p role="alert">${t.failedText}</p><p><a href="/app">${t.signIn}</a></p>`;
    return this.#frame.send(reply, 400, this.#frame.layout(language, t.failed, body));
  }
}
