import type { Refusal } from '../../../identity/oauth-error.ts';
import type { Language } from '../../../values/language.ts';

/** The texts of the sign-in pages in one language. */
export interface Texts {
  signIn: string;
  toContinue: (application: string) => string;
  email: string;
  password: string;
  submit: string;
  returnsTo: (host: string) => string;
  secondStep: string;
  enterTotp: string;
  enterText: string;
  code: string;
  codeHint: string;
  recoveryHint: string;
  verify: string;
  resend: string;
  resent: string;
  signOut: string;
  signOutQuestion: string;
  signedOut: string;
  signedOutText: string;
  wrongAddress: string;
  wrongAddressText: string;
  failed: string;
  failedText: string;
  closeOrReturn: string;
  forDevelopers: string;
  bothNeeded: string;
  forgotten: string;
  forgottenTitle: string;
  forgottenText: string;
  sendLink: string;
  linkSent: string;
  linkSentText: string;
  linkOver: string;
  newPassword: string;
  passwordRule: string;
  savePassword: string;
  passwordChanged: string;
  passwordChangedText: string;
  passwordChosen: string;
  passwordChosenText: string;
  refusals: Record<Refusal, string>;
  /** The text message with a code. */
  message: (institution: string, code: string) => string;
}

const en: Texts = {
  signIn: 'Sign in',
  toContinue: (application) => `to continue to ${application}`,
  email: 'Email',
  password: 'Password',
  submit: 'Sign in',
  returnsTo: (host) => `You will return to ${host}`,
  secondStep: 'Enter your code',
  enterTotp: 'Open your authenticator app and enter the six-digit code it shows.',
  enterText: 'We have sent a six-digit code to your phone by text message.',
  code: 'Verification code',
  codeHint: 'Six digits. The code expires after a few minutes.',
  recoveryHint: 'You can use a recovery code instead.',
  verify: 'Continue',
  resend: 'Send a new code',
  resent: 'We have sent a new code. The previous code no longer works.',
  signOut: 'Sign out',
  signOutQuestion: 'Do you want to sign out of this browser?',
  signedOut: 'You are signed out',
  signedOutText: 'You can close this window.',
  wrongAddress: 'This sign-in link does not work',
  wrongAddressText:
    'The application that sent you here made a request that cannot be answered safely. You have not been signed in.',
  failed: 'That did not work',
  failedText: 'Something went wrong on our side. Please try again in a moment.',
  closeOrReturn: 'Go back to the application and start again.',
  forDevelopers: 'For the application’s developers',
  bothNeeded: 'Enter your email and your password.',
  forgotten: 'Forgotten password?',
  forgottenTitle: 'Reset your password',
  forgottenText:
    'Enter the email that you sign in with. We will send you a link with which you can choose a new password.',
  sendLink: 'Send the link',
  linkSent: 'If this address is known to us, a mail is on its way.',
  linkSentText:
    'The link in it is good for 30 minutes. If no mail comes, look into your spam folder, or ask your institution.',
  linkOver: 'This link no longer works. It was used, is older than 30 minutes, or you have asked for a newer one.',
  newPassword: 'New password',
  passwordRule: 'At least 8 characters.',
  savePassword: 'Save the new password',
  passwordChanged: 'Your password is changed',
  passwordChangedText: 'You are signed out everywhere. Sign in with the new password.',
  passwordChosen: 'Your password is set',
  passwordChosenText: 'You can sign in with it now.',
  refusals: {
    wrong_password: 'The email or the password is not right. Check both and try again.',
    wrong_code: 'That code is not right, or it has already been used. Enter the newest code.',
    locked: 'There were too many failed attempts. Wait 15 minutes, then try again.',
    expired: 'This sign-in has expired or is already complete.',
    foreign: 'This form was sent from another site, so nothing was changed.',
    text_too_soon: 'A code was sent a moment ago. Wait 30 seconds before you ask for another code.',
    text_failed: 'The text message could not be sent. Try again in a moment.',
  },
  message: (institution, code) =>
    `${institution}: ${code} is your verification code. It is valid for 5 minutes. We will never ask you for it.`,
};

const de: Texts = {
  signIn: 'Anmelden',
  toContinue: (application) => `weiter zu ${application}`,
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  submit: 'Anmelden',
  returnsTo: (host) => `Sie kehren zurück zu ${host}`,
  secondStep: 'Code eingeben',
  enterTotp: 'Öffnen Sie Ihre Authenticator-App und geben Sie den sechsstelligen Code ein, den sie anzeigt.',
  enterText: 'Wir haben Ihnen einen sechsstelligen Code per SMS geschickt.',
  code: 'Bestätigungscode',
  codeHint: 'Sechs Ziffern. Er gilt nur kurze Zeit.',
  recoveryHint: 'Sie können stattdessen einen Wiederherstellungscode eingeben.',
  verify: 'Weiter',
  resend: 'Neuen Code senden',
  resent: 'Ein neuer Code ist unterwegs. Der vorige gilt nicht mehr.',
  signOut: 'Abmelden',
  signOutQuestion: 'Möchten Sie sich in diesem Browser abmelden?',
  signedOut: 'Sie sind abgemeldet',
  signedOutText: 'Sie können dieses Fenster schließen.',
  wrongAddress: 'Dieser Anmeldelink funktioniert nicht',
  wrongAddressText:
    'Die Anwendung, die Sie hierher geschickt hat, hat so gefragt, dass wir nicht sicher antworten können. Sie wurden nicht angemeldet.',
  failed: 'Das hat nicht geklappt',
  failedText: 'Bei uns ist etwas ausgefallen. Bitte versuchen Sie es gleich noch einmal.',
  closeOrReturn: 'Gehen Sie zurück zur Anwendung und beginnen Sie von vorn.',
  forDevelopers: 'Für die Entwickler der Anwendung',
  bothNeeded: 'Geben Sie E-Mail-Adresse und Passwort ein.',
  forgotten: 'Passwort vergessen?',
  forgottenTitle: 'Passwort zurücksetzen',
  forgottenText:
    'Geben Sie die E-Mail-Adresse ein, mit der Sie sich anmelden. Wir senden Ihnen einen Link, mit dem Sie ein neues Passwort wählen können.',
  sendLink: 'Link senden',
  linkSent: 'Wenn uns diese Adresse bekannt ist, ist eine E-Mail unterwegs.',
  linkSentText:
    'Der Link darin gilt 30 Minuten. Wenn keine E-Mail ankommt, sehen Sie im Spam-Ordner nach, oder fragen Sie Ihr Institut.',
  linkOver:
    'Dieser Link gilt nicht mehr. Er wurde benutzt, ist älter als 30 Minuten, oder Sie haben einen neueren angefordert.',
  newPassword: 'Neues Passwort',
  passwordRule: 'Mindestens 8 Zeichen.',
  savePassword: 'Neues Passwort speichern',
  passwordChanged: 'Ihr Passwort ist geändert',
  passwordChangedText: 'Sie sind überall abgemeldet. Melden Sie sich mit dem neuen Passwort an.',
  passwordChosen: 'Ihr Passwort ist festgelegt',
  passwordChosenText: 'Sie können sich jetzt damit anmelden.',
  refusals: {
    wrong_password: 'E-Mail-Adresse oder Passwort stimmt nicht. Prüfen Sie beides und versuchen Sie es erneut.',
    wrong_code: 'Dieser Code stimmt nicht oder wurde schon verwendet. Geben Sie den neuesten ein.',
    locked: 'Es gab zu viele falsche Versuche. Warten Sie 15 Minuten und versuchen Sie es dann erneut.',
    expired: 'Diese Anmeldung ist abgelaufen oder abgeschlossen.',
    foreign: 'Diese Seite wurde von einer anderen Website abgeschickt; es ist nichts geschehen.',
    text_too_soon: 'Gerade wurde ein Code gesendet. Warten Sie 30 Sekunden, bevor Sie einen weiteren anfordern.',
    text_failed: 'Die SMS konnte nicht gesendet werden. Versuchen Sie es gleich noch einmal.',
  },
  message: (institution, code) =>
    `${institution}: ${code} ist Ihr Bestätigungscode. Er gilt 5 Minuten. Wir fragen Sie niemals danach.`,
};

const fr: Texts = {
  signIn: 'Connexion',
  toContinue: (application) => `pour continuer vers ${application}`,
  email: 'Adresse e-mail',
  password: 'Mot de passe',
  submit: 'Se connecter',
  returnsTo: (host) => `Vous reviendrez à ${host}`,
  secondStep: 'Saisissez votre code',
  enterTotp: 'Ouvrez votre application d’authentification et saisissez le code à six chiffres qu’elle affiche.',
  enterText: 'Nous vous avons envoyé un code à six chiffres par SMS.',
  code: 'Code de vérification',
  codeHint: 'Six chiffres. Il n’est valable que peu de temps.',
  recoveryHint: 'Vous pouvez aussi saisir un code de secours.',
  verify: 'Continuer',
  resend: 'Envoyer un nouveau code',
  resent: 'Un nouveau code est en route. Le précédent n’est plus valable.',
  signOut: 'Se déconnecter',
  signOutQuestion: 'Voulez-vous vous déconnecter de ce navigateur ?',
  signedOut: 'Vous êtes déconnecté',
  signedOutText: 'Vous pouvez fermer cette fenêtre.',
  wrongAddress: 'Ce lien de connexion ne fonctionne pas',
  wrongAddressText:
    'L’application qui vous a envoyé ici a fait une demande à laquelle nous ne pouvons pas répondre en toute sécurité. Vous n’avez pas été connecté.',
  failed: 'Cela n’a pas fonctionné',
  failedText: 'Un problème est survenu de notre côté. Veuillez réessayer dans un instant.',
  closeOrReturn: 'Retournez à l’application et recommencez.',
  forDevelopers: 'Pour les développeurs de l’application',
  bothNeeded: 'Saisissez votre adresse e-mail et votre mot de passe.',
  forgotten: 'Mot de passe oublié ?',
  forgottenTitle: 'Réinitialiser votre mot de passe',
  forgottenText:
    'Saisissez l’adresse e-mail avec laquelle vous vous connectez. Nous vous enverrons un lien pour choisir un nouveau mot de passe.',
  sendLink: 'Envoyer le lien',
  linkSent: 'Si nous connaissons cette adresse, un e-mail est en route.',
  linkSentText:
    'Le lien qu’il contient est valable 30 minutes. Si aucun e-mail n’arrive, regardez dans vos courriers indésirables ou adressez-vous à votre établissement.',
  linkOver:
    'Ce lien n’est plus valable. Il a été utilisé, date de plus de 30 minutes, ou vous en avez demandé un plus récent.',
  newPassword: 'Nouveau mot de passe',
  passwordRule: 'Au moins 8 caractères.',
  savePassword: 'Enregistrer le nouveau mot de passe',
  passwordChanged: 'Votre mot de passe est modifié',
  passwordChangedText: 'Vous êtes déconnecté partout. Connectez-vous avec le nouveau mot de passe.',
  passwordChosen: 'Votre mot de passe est défini',
  passwordChosenText: 'Vous pouvez maintenant vous connecter.',
  refusals: {
    wrong_password: 'L’adresse e-mail ou le mot de passe est incorrect. Vérifiez les deux et réessayez.',
    wrong_code: 'Ce code est incorrect ou a déjà été utilisé. Saisissez le plus récent.',
    locked: 'Trop de tentatives erronées. Attendez 15 minutes, puis réessayez.',
    expired: 'Cette connexion a expiré ou est terminée.',
    foreign: 'Cette page a été envoyée depuis un autre site ; rien n’a été fait.',
    text_too_soon: 'Un code vient d’être envoyé. Attendez 30 secondes avant d’en demander un autre.',
    text_failed: 'Le SMS n’a pas pu être envoyé. Réessayez dans un instant.',
  },
  message: (institution, code) =>
    `${institution} : ${code} est votre code de vérification. Il est valable 5 minutes. Nous ne vous le demanderons jamais.`,
};

const es: Texts = {
  signIn: 'Iniciar sesión',
  toContinue: (application) => `para continuar en ${application}`,
  email: 'Correo electrónico',
  password: 'Contraseña',
  submit: 'Iniciar sesión',
  returnsTo: (host) => `Volverá a ${host}`,
  secondStep: 'Introduzca su código',
  enterTotp: 'Abra su aplicación de autenticación e introduzca el código de seis cifras que muestra.',
  enterText: 'Le hemos enviado un código de seis cifras por SMS.',
  code: 'Código de verificación',
  codeHint: 'Seis cifras. Solo es válido durante poco tiempo.',
  recoveryHint: 'También puede usar un código de recuperación.',
  verify: 'Continuar',
  resend: 'Enviar un código nuevo',
  resent: 'Un código nuevo está en camino. El anterior ya no es válido.',
  signOut: 'Cerrar sesión',
  signOutQuestion: '¿Quiere cerrar la sesión en este navegador?',
  signedOut: 'Ha cerrado la sesión',
  signedOutText: 'Puede cerrar esta ventana.',
  wrongAddress: 'Este enlace de inicio de sesión no funciona',
  wrongAddressText:
    'La aplicación que le ha enviado aquí ha hecho una petición a la que no podemos responder con seguridad. No se ha iniciado la sesión.',
  failed: 'No ha funcionado',
  failedText: 'Algo ha fallado por nuestra parte. Vuelva a intentarlo dentro de un momento.',
  closeOrReturn: 'Vuelva a la aplicación y empiece de nuevo.',
  forDevelopers: 'Para los desarrolladores de la aplicación',
  bothNeeded: 'Introduzca su correo electrónico y su contraseña.',
  forgotten: '¿Ha olvidado su contraseña?',
  forgottenTitle: 'Restablecer su contraseña',
  forgottenText:
    'Introduzca el correo con el que inicia sesión. Le enviaremos un enlace para elegir una nueva contraseña.',
  sendLink: 'Enviar el enlace',
  linkSent: 'Si conocemos esta dirección, hay un correo en camino.',
  linkSentText:
    'El enlace es válido durante 30 minutos. Si no llega ningún correo, mire en la carpeta de correo no deseado o pregunte a su institución.',
  linkOver: 'Este enlace ya no es válido. Se ha usado, tiene más de 30 minutos, o ha pedido uno más reciente.',
  newPassword: 'Nueva contraseña',
  passwordRule: 'Al menos 8 caracteres.',
  savePassword: 'Guardar la nueva contraseña',
  passwordChanged: 'Su contraseña ha cambiado',
  passwordChangedText: 'Se ha cerrado su sesión en todas partes. Inicie sesión con la nueva contraseña.',
  passwordChosen: 'Su contraseña está guardada',
  passwordChosenText: 'Ya puede iniciar sesión con ella.',
  refusals: {
    wrong_password: 'El correo electrónico o la contraseña no es correcto. Compruebe ambos e inténtelo de nuevo.',
    wrong_code: 'Ese código no es correcto o ya se ha utilizado. Introduzca el más reciente.',
    locked: 'Ha habido demasiados intentos erróneos. Espere 15 minutos e inténtelo de nuevo.',
    expired: 'Este inicio de sesión ha caducado o ya ha terminado.',
    foreign: 'Esta página se envió desde otro sitio; no se ha hecho nada.',
    text_too_soon: 'Se acaba de enviar un código. Espere 30 segundos antes de pedir otro.',
    text_failed: 'No se ha podido enviar el SMS. Inténtelo de nuevo dentro de un momento.',
  },
  message: (institution, code) =>
    `${institution}: ${code} es su código de verificación. Es válido durante 5 minutos. Nunca se lo pediremos.`,
};

/** The texts of each language. */
export const TEXTS: Record<Language, Texts> = { en, de, fr, es };
