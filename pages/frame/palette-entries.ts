import type { Find } from '../design/finder.tsx';

/** Where an entry leads, or what it does. */
export type PaletteEntry = Omit<Find, 'choose'> &
  ({ to: string; search?: Record<string, string> } | { act: () => void });

/** What an application's palette finds besides its pages. */
export interface PaletteSource {
  /** Identifies whose records it finds. */
  scope: string;
  /** Commands that are available everywhere. Their titles are texts, so that typing can search them. */
  acts: (PaletteEntry & { title: string })[];
  /** Searches for records. @throws CallError */
  find: (text: string, signal: AbortSignal) => Promise<PaletteEntry[]>;
}
