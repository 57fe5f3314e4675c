import type { FastifyReply } from 'fastify';
import type { Config } from '../../config.ts';
import type { PagePerson } from '../../identity/page-person.ts';
import type { Language } from '../../language.ts';
import { printable } from '../../printable.ts';
import { PageFrame } from '../page/frame.ts';
import { html } from '../page/html.ts';

interface Texts {
  notFound: string;
  notFoundText: string;
  home: string;
  failed: string;
  failedText: string;
  signIn: string;
  signedInAs: (name: string) => string;
  waiting: (count: number) => string;
  noClient: string;
  signOut: string;
  signOutEverywhere: string;
}

const TEXTS: Record<Language, Texts> = {
  en: {
    notFound: 'This page does not exist',
    notFoundText: 'The address is wrong, or what it showed is gone.',
    home: 'Go to the first page',
    failed: 'You are not signed in',
    failedText: 'The sign-in took too long, or was begun in another window.',
    signIn: 'Sign in',
    signedInAs: (name) => `You are signed in as ${name}`,
    waiting: (count) => (count === 1 ? '1 payment waits for you' : `${count} payments wait for you`),
    noClient: 'You act for no client yet. Ask your institution.',
    signOut: 'Sign out',
    signOutEverywhere: 'Sign out everywhere',
  },
  de: {
    notFound: 'Diese Seite gibt es nicht',
    notFoundText: 'Die Adresse ist falsch, oder was sie zeigte, gibt es nicht mehr.',
    home: 'Zur ersten Seite',
    failed: 'Sie sind nicht angemeldet',
    failedText: 'Die Anmeldung hat zu lange gedauert oder wurde in einem anderen Fenster begonnen.',
    signIn: 'Anmelden',
    signedInAs: (name) => `Sie sind angemeldet als ${name}`,
    waiting: (count) => (count === 1 ? '1 Zahlung wartet auf Sie' : `${count} Zahlungen warten auf Sie`),
    noClient: 'Sie handeln noch für keinen Kunden. Fragen Sie Ihr Institut.',
    signOut: 'Abmelden',
    signOutEverywhere: 'Überall abmelden',
  },
  fr: {
    notFound: 'Cette page n’existe pas',
    notFoundText: 'L’adresse est fausse, ou ce qu’elle montrait n’existe plus.',
    home: 'Aller à la première page',
    failed: 'Vous n’êtes pas connecté',
    failedText: 'La connexion a pris trop de temps ou a été commencée dans une autre fenêtre.',
    signIn: 'Se connecter',
    signedInAs: (name) => `Vous êtes connecté en tant que ${name}`,
    waiting: (count) => (count <= 1 ? `${count} paiement vous attend` : `${count} paiements vous attendent`),
    noClient: 'Vous n’agissez encore pour aucun client. Adressez-vous à votre établissement.',
    signOut: 'Se déconnecter',
    signOutEverywhere: 'Se déconnecter partout',
  },
  es: {
    notFound: 'Esta página no existe',
    notFoundText: 'La dirección es incorrecta, o lo que mostraba ya no existe.',
    home: 'Ir a la primera página',
    failed: 'No ha iniciado sesión',
    failedText: 'El inicio de sesión ha tardado demasiado o se empezó en otra ventana.',
    signIn: 'Iniciar sesión',
    signedInAs: (name) => `Ha iniciado sesión como ${name}`,
    waiting: (count) => (count === 1 ? '1 pago le espera' : `${count} pagos le esperan`),
    noClient: 'Todavía no actúa para ningún cliente. Pregunte a su institución.',
    signOut: 'Cerrar sesión',
    signOutEverywhere: 'Cerrar sesión en todas partes',
  },
};

/** The plain pages of {base_url}/app: they need no script. */
export class AppPages {
  readonly #frame: PageFrame;

  constructor(config: Config) {
    this.#frame = new PageFrame(config, config.apiUrl);
  }

  /** Who is signed in, for whom, and what waits. */
  home(reply: FastifyReply, language: Language, person: PagePerson): FastifyReply {
    const t = TEXTS[language];
    const title = t.signedInAs(printable(person.name));
    const clients = person.clients.map(
      ({ client_name: name, client_id: id, waiting }) =>
        html`<p><strong>${printable(name)}</strong> (${id}): ${t.waiting(waiting)}</p>`,
    );
    const body = html`<h1>${title}</h1><p>${printable(person.email)}</p>
${clients.length > 0 ? clients : html`<p>${t.noClient}</p>`}
<button data-delete="/app/session">${t.signOut}</button>
<button class="second" data-delete="/app/sessions">${t.signOutEverywhere}</button>
<script src="/app/session.js" defer></script>`;
    return this.#frame.send(reply, 200, this.#frame.layout(language, title, body), { scripts: true });
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
