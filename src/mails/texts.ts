import type { Language } from '../values/language.ts';

/** The texts of the mails about payments, in one language. */
export interface MailWords {
  greeting: (name: string) => string;
  /** For one payment, and for several. */
  waitingSubject: (count: number, first: { sum: string; payee: string }) => string;
  waitingOpening: (count: number) => string;
  client: string;
  amount: string;
  payee: string;
  reference: string;
  paymentDate: string;
  createdBy: string;
  open: (paymentId: string) => string;
  /** For payments that are not listed. */
  further: (count: number) => string;
  all: string;
  waitingClosing: string;
  rejectedSubject: (payment: { sum: string; payee: string }) => string;
  rejectedOpening: (by: string) => string;
  reason: string;
  noReason: string;
  closing: string;
  /** For somebody who has forgotten a password, and for somebody who chooses the first one. */
  password: LinkWords;
  invitation: LinkWords;
  /** Where to sign in afterwards. */
  signInAt: string;
}

/** The texts of a mail with a link for a password. */
interface LinkWords {
  subject: string;
  opening: string;
  link: string;
  validity: string;
  closing: string;
}

const en: MailWords = {
  greeting: (name) => `Dear ${name},`,
  waitingSubject: (count, { sum, payee }) =>
    count === 1 ? `Please approve: ${sum} to ${payee}` : `${count} payments wait for your approval`,
  waitingOpening: (count) =>
    count === 1 ? 'This payment waits for your approval.' : `${count} payments wait for your approval.`,
  client: 'Client',
  amount: 'Amount',
  payee: 'Payee',
  reference: 'Reference',
  paymentDate: 'Payment date',
  createdBy: 'Created by',
  open: (id) => `Open payment ${id}`,
  further: (count) => `${count} more are in the list.`,
  all: 'All payments that wait for you',
  waitingClosing:
    'You get at most one of these mails in 15 minutes. You can switch them off in your profile. Nobody reads replies to this address.',
  rejectedSubject: ({ sum, payee }) => `Rejected: ${sum} to ${payee}`,
  rejectedOpening: (by) => `${by} has rejected a payment that you created.`,
  reason: 'Reason',
  noReason: 'none given',
  closing: 'You can switch these mails off in your profile. Nobody reads replies to this address.',
  password: {
    subject: 'Reset your password',
    opening: 'Somebody, most likely you, wants to choose a new password for this address.',
    link: 'Choose a new password',
    validity: 'The link is good for 30 minutes and once. A newer link ends this one.',
    closing:
      'If this was not you, ignore this mail: your password stays as it is. Nobody reads replies to this address.',
  },
  invitation: {
    subject: 'Choose your password',
    opening: 'An account was set up for you. Choose a password, and then sign in.',
    link: 'Choose your password',
    validity: 'The link is good for three days and once. A newer link ends this one.',
    closing: 'If you did not expect this mail, ask whoever set up the account. Nobody reads replies to this address.',
  },
  signInAt: 'Sign in afterwards',
};

const de: MailWords = {
  greeting: (name) => `Guten Tag ${name},`,
  waitingSubject: (count, { sum, payee }) =>
    count === 1 ? `Bitte freigeben: ${sum} an ${payee}` : `${count} Zahlungen warten auf Ihre Freigabe`,
  waitingOpening: (count) =>
    count === 1 ? 'diese Zahlung wartet auf Ihre Freigabe.' : `${count} Zahlungen warten auf Ihre Freigabe.`,
  client: 'Kunde',
  amount: 'Betrag',
  payee: 'Empfänger',
  reference: 'Verwendungszweck',
  paymentDate: 'Zahlungsdatum',
  createdBy: 'Erstellt von',
  open: (id) => `Zahlung ${id} öffnen`,
  further: (count) => `${count} weitere stehen in der Liste.`,
  all: 'Alle Zahlungen, die auf Sie warten',
  waitingClosing:
    'Sie erhalten höchstens alle 15 Minuten eine solche E-Mail. In Ihrem Profil können Sie diese E-Mails abschalten. Antworten an diese Adresse liest niemand.',
  rejectedSubject: ({ sum, payee }) => `Abgelehnt: ${sum} an ${payee}`,
  rejectedOpening: (by) => `${by} hat eine Zahlung abgelehnt, die Sie erstellt haben.`,
  reason: 'Grund',
  noReason: 'nicht angegeben',
  closing: 'In Ihrem Profil können Sie diese E-Mails abschalten. Antworten an diese Adresse liest niemand.',
  password: {
    subject: 'Passwort zurücksetzen',
    opening: 'jemand, vermutlich Sie, möchte für diese Adresse ein neues Passwort wählen.',
    link: 'Neues Passwort wählen',
    validity: 'Der Link gilt 30 Minuten und nur einmal. Ein neuerer Link macht diesen ungültig.',
    closing:
      'Wenn Sie das nicht waren, beachten Sie diese E-Mail nicht: Ihr Passwort bleibt, wie es ist. Antworten an diese Adresse liest niemand.',
  },
  invitation: {
    subject: 'Wählen Sie Ihr Passwort',
    opening: 'für Sie wurde ein Zugang eingerichtet. Wählen Sie ein Passwort, und melden Sie sich dann an.',
    link: 'Passwort wählen',
    validity: 'Der Link gilt drei Tage und einmal. Ein neuerer Link beendet diesen.',
    closing:
      'Falls Sie diese E-Mail nicht erwartet haben, fragen Sie, wer den Zugang eingerichtet hat. Antworten an diese Adresse liest niemand.',
  },
  signInAt: 'Danach anmelden',
};

const fr: MailWords = {
  greeting: (name) => `Bonjour ${name},`,
  waitingSubject: (count, { sum, payee }) =>
    count === 1 ? `À approuver : ${sum} pour ${payee}` : `${count} paiements attendent votre approbation`,
  waitingOpening: (count) =>
    count === 1 ? 'Ce paiement attend votre approbation.' : `${count} paiements attendent votre approbation.`,
  client: 'Client',
  amount: 'Montant',
  payee: 'Bénéficiaire',
  reference: 'Référence',
  paymentDate: 'Date de paiement',
  createdBy: 'Créé par',
  open: (id) => `Ouvrir le paiement ${id}`,
  further: (count) => (count === 1 ? 'Un autre figure dans la liste.' : `${count} autres figurent dans la liste.`),
  all: 'Tous les paiements qui vous attendent',
  waitingClosing:
    'Vous recevez au plus un de ces e-mails toutes les 15 minutes. Vous pouvez les désactiver dans votre profil. Personne ne lit les réponses à cette adresse.',
  rejectedSubject: ({ sum, payee }) => `Rejeté : ${sum} pour ${payee}`,
  rejectedOpening: (by) => `${by} a rejeté un paiement que vous avez créé.`,
  reason: 'Motif',
  noReason: 'non indiqué',
  closing: 'Vous pouvez désactiver ces e-mails dans votre profil. Personne ne lit les réponses à cette adresse.',
  password: {
    subject: 'Réinitialiser votre mot de passe',
    opening: 'Quelqu’un, sans doute vous, souhaite choisir un nouveau mot de passe pour cette adresse.',
    link: 'Choisir un nouveau mot de passe',
    validity: 'Le lien est valable 30 minutes et une seule fois. Un lien plus récent annule celui-ci.',
    closing:
      'Si ce n’était pas vous, ignorez cet e-mail : votre mot de passe reste inchangé. Personne ne lit les réponses à cette adresse.',
  },
  invitation: {
    subject: 'Choisissez votre mot de passe',
    opening: 'Un accès a été créé pour vous. Choisissez un mot de passe, puis connectez-vous.',
    link: 'Choisir votre mot de passe',
    validity: 'Le lien est valable trois jours et une seule fois. Un lien plus récent met fin à celui-ci.',
    closing:
      'Si vous n’attendiez pas ce message, adressez-vous à la personne qui a créé l’accès. Personne ne lit les réponses à cette adresse.',
  },
  signInAt: 'Se connecter ensuite',
};

const es: MailWords = {
  greeting: (name) => `Hola, ${name}:`,
  waitingSubject: (count, { sum, payee }) =>
    count === 1 ? `Pendiente de aprobar: ${sum} a ${payee}` : `${count} pagos esperan su aprobación`,
  waitingOpening: (count) =>
    count === 1 ? 'Este pago espera su aprobación.' : `${count} pagos esperan su aprobación.`,
  client: 'Cliente',
  amount: 'Importe',
  payee: 'Beneficiario',
  reference: 'Referencia',
  paymentDate: 'Fecha de pago',
  createdBy: 'Creado por',
  open: (id) => `Abrir el pago ${id}`,
  further: (count) => (count === 1 ? 'Hay uno más en la lista.' : `Hay ${count} más en la lista.`),
  all: 'Todos los pagos que le esperan',
  waitingClosing:
    'Recibirá como máximo uno de estos correos cada 15 minutos. Puede desactivarlos en su perfil. Nadie lee las respuestas a esta dirección.',
  rejectedSubject: ({ sum, payee }) => `Rechazado: ${sum} a ${payee}`,
  rejectedOpening: (by) => `${by} ha rechazado un pago que usted creó.`,
  reason: 'Motivo',
  noReason: 'no indicado',
  closing: 'Puede desactivar estos correos en su perfil. Nadie lee las respuestas a esta dirección.',
  password: {
    subject: 'Restablecer su contraseña',
    opening: 'Alguien, probablemente usted, quiere elegir una nueva contraseña para esta dirección.',
    link: 'Elegir una nueva contraseña',
    validity: 'El enlace es válido durante 30 minutos y una sola vez. Un enlace más reciente anula este.',
    closing:
      'Si no ha sido usted, ignore este correo: su contraseña sigue siendo la misma. Nadie lee las respuestas a esta dirección.',
  },
  invitation: {
    subject: 'Elija su contraseña',
    opening: 'Se ha creado un acceso para usted. Elija una contraseña e inicie sesión después.',
    link: 'Elegir su contraseña',
    validity: 'El enlace vale tres días y una sola vez. Un enlace más reciente anula este.',
    closing:
      'Si no esperaba este mensaje, pregunte a quien ha creado el acceso. Nadie lee las respuestas a esta dirección.',
  },
  signInAt: 'Iniciar sesión después',
};

export const MAIL_WORDS: Record<Language, MailWords> = { en, de, fr, es };
