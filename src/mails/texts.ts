import type { Language } from '../values/language.ts';

/** The texts of the mails about payments, in one language. */
export interface MailWords {
  greeting: (name: string) => string;
  /** One payment, and several. */
  waitingSubject: (count: number, first: { sum: string; payee: string }) => string;
  waitingOpening: (count: number) => string;
  client: string;
  amount: string;
  payee: string;
  reference: string;
  paymentDate: string;
  createdBy: string;
  open: (paymentId: string) => string;
  /** Of payments that are not listed. */
  further: (count: number) => string;
  all: string;
  waitingClosing: string;
  rejectedSubject: (payment: { sum: string; payee: string }) => string;
  rejectedOpening: (by: string) => string;
  reason: string;
  noReason: string;
  closing: string;
  passwordSubject: string;
  passwordOpening: string;
  passwordLink: string;
  passwordValidity: string;
  passwordClosing: string;
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
  passwordSubject: 'Reset your password',
  passwordOpening: 'Somebody, most likely you, wants to choose a new password for this address.',
  passwordLink: 'Choose a new password',
  passwordValidity: 'The link is good for 30 minutes and once. A newer link ends this one.',
  passwordClosing:
    'If this was not you, ignore this mail: your password stays as it is. Nobody reads replies to this address.',
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
  passwordSubject: 'Passwort zurücksetzen',
  passwordOpening: 'jemand, vermutlich Sie, möchte für diese Adresse ein neues Passwort wählen.',
  passwordLink: 'Neues Passwort wählen',
  passwordValidity: 'Der Link gilt 30 Minuten und nur einmal. Ein neuerer Link macht diesen ungültig.',
  passwordClosing:
    'Wenn Sie das nicht waren, beachten Sie diese E-Mail nicht: Ihr Passwort bleibt, wie es ist. Antworten an diese Adresse liest niemand.',
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
  passwordSubject: 'Réinitialiser votre mot de passe',
  passwordOpening: 'Quelqu’un, sans doute vous, souhaite choisir un nouveau mot de passe pour cette adresse.',
  passwordLink: 'Choisir un nouveau mot de passe',
  passwordValidity: 'Le lien est valable 30 minutes et une seule fois. Un lien plus récent annule celui-ci.',
  passwordClosing:
    'Si ce n’était pas vous, ignorez cet e-mail : votre mot de passe reste inchangé. Personne ne lit les réponses à cette adresse.',
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
  passwordSubject: 'Restablecer su contraseña',
  passwordOpening: 'Alguien, probablemente usted, quiere elegir una nueva contraseña para esta dirección.',
  passwordLink: 'Elegir una nueva contraseña',
  passwordValidity: 'El enlace es válido durante 30 minutos y una sola vez. Un enlace más reciente anula este.',
  passwordClosing:
    'Si no ha sido usted, ignore este correo: su contraseña sigue siendo la misma. Nadie lee las respuestas a esta dirección.',
};

export const MAIL_WORDS: Record<Language, MailWords> = { en, de, fr, es };
