import type { PageRoute } from '../frame/router.tsx';

/** The pages of {operator_url}/console. */
export const PAGES: PageRoute[] = [{ path: '/', load: () => import('./home/home.tsx') }];
