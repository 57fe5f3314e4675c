import type { IconName } from '../design/icon.tsx';

/** The icon of each page in a navigation, by its path within the application. */
const ICONS: Record<string, IconName> = {
  '/': 'house',
  '/payments': 'send',
  '/payments/new': 'plus',
  '/payees': 'users',
  '/approvals': 'check-check',
  '/approvals/settings': 'settings-2',
  '/exchange': 'repeat',
  '/trades': 'arrow-left-right',
  '/files': 'files',
  '/accounts': 'landmark',
  '/documents': 'file-text',
  '/webhooks': 'webhook',
  '/developers': 'terminal',
  '/clients': 'building-2',
  '/new-client': 'plus',
  '/holds': 'coins',
  '/quotes': 'repeat',
  '/contacts': 'user',
  '/applications': 'key-round',
  '/notifications': 'bell',
  '/subscriptions': 'webhook',
  '/statements': 'scroll-text',
  '/imports': 'download',
  '/changes': 'activity',
  '/requests': 'circle-alert',
  '/audit': 'list-checks',
  '/tokens': 'key-round',
  '/system': 'server',
  '/settings': 'settings-2',
};

export function navIcon(path: string): IconName {
  return ICONS[path] ?? 'chevron-right';
}
