import { type Db, first } from '../../database/database.ts';
import { OAuthError } from '../oauth-error.ts';
import type { RegisteredApplication } from './application-credentials.ts';

/** The certificate of a request on the trusted address. It has already been validated. */
export interface ClientCertificate {
  /** Subject DN in its canonical spelling (certificates/distinguished-name.ts). */
  subject: string;
  /** SHA-256 of its DER, base64url (RFC 8705, 3.1). */
  thumbprint: string;
}

/** Whether a subject DN in its canonical spelling is registered for any application. */
export async function isSubjectRegistered(db: Db, canonicalSubject: string): Promise<boolean> {
  const row = first(
    await db.query<{ known: boolean }>(
      'select exists (select from application_certificates where subject = $1) as known',
      [canonicalSubject],
    ),
  );
  return row?.known ?? false;
}

/** @throws OAuthError unauthorized_client if the certificate is not registered for the application */
export function requireRegistration(application: RegisteredApplication, certificate: ClientCertificate): void {
  if (application.certificateSubjects.has(certificate.subject)) return;
  throw new OAuthError('unauthorized_client', 'the subject of the certificate is not registered for the application');
}
