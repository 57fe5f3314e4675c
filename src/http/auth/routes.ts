import type { AuthRoutes } from './auth-context.ts';
import { authenticateRoutes } from './authenticate.ts';
import { discoveryRoutes } from './discovery.ts';
import { forgottenPasswordRoutes } from './forgotten-password.ts';
import { secondFactorRoutes } from './second-factor.ts';
import { signOutRoutes } from './sign-out.ts';
import { tokenRoutes } from './token.ts';
import { userinfoRoutes } from './userinfo.ts';

/** Everything that the authorization listener serves. */
export const authRoutes: AuthRoutes[] = [
  authenticateRoutes,
  secondFactorRoutes,
  forgottenPasswordRoutes,
  signOutRoutes,
  tokenRoutes,
  userinfoRoutes,
  discoveryRoutes,
];
