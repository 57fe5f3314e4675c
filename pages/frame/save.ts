import type { FileAnswer } from '../data/call.ts';

/** By then, the browser has opened the file. */
const OPENED_MS = 60_000;

/** Makes the browser save a file that the page has fetched. */
export function save({ name, content }: FileAnswer): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), OPENED_MS);
}
