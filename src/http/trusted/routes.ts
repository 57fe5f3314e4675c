import type { Sessions } from '../../identity/tokens/sessions.ts';
import type { ClientRoutes } from '../client/listener.ts';
import { certCheckRoute } from './cert-check.ts';
import { trustedTokenRoutes } from './token.ts';

/** What the trusted listener serves in addition to the client API. */
export function trustedRoutes(sessions: Sessions): ClientRoutes[] {
  return [trustedTokenRoutes(sessions), certCheckRoute];
}
