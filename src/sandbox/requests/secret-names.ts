/** What the log of requests shows in place of a secret. */
export const MASK = '***';

/** Ends of names that stand for secrets, without case, `_` and `-`. */
const SECRET_NAME =
  /(secret|secretkey|password|passphrase|token|apikey|privatekey|credentials|verificationcode|otp|totp|authorization)s?$/;
/** The list of a subscription's own headers: receivers' keys are in their values. */
const HEADERS_NAME = 'extraheaders';
/** A text that cannot be parsed and has one of these words is not shown at all. */
const SUSPICIOUS =
  /secret|password|passphrase|token|api_?key|private_?key|credential|verification_?code|otp|extra_?headers|authorization/i;

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

/** Whether a field or parameter of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(plain(name));
}

/** Whether a field of this name holds headers of a subscription. */
export function isHeadersName(name: string): boolean {
  return plain(name) === HEADERS_NAME;
}

/** Whether a text may hold a secret. */
export function isSuspicious(text: string): boolean {
  return SUSPICIOUS.test(text);
}
