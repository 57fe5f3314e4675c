import { spawn } from 'node:child_process';

/** The programs that open an address in the person's browser. */
const OPENERS: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens an address in the browser. Where there is none the person opens it: it is printed as well. */
export function openBrowser(address: string): void {
  const [program, ...options] = OPENERS[process.platform] ?? ['xdg-open'];
  const opener = spawn(program as string, [...options, address], { stdio: 'ignore', detached: true });
  opener.on('error', () => {});
  opener.unref();
}
