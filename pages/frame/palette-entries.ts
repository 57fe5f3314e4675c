import type { Find } from '../design/finder.tsx';

/** Where an entry leads, or what it does. */
export type PaletteEntry = Omit<Find, 'choose'> &
  ({ to: string; search?: Record<string, string> } | { act: () => void });

/** What an application's list of Ctrl K finds besides its pages. */
export interface PaletteSource {
  /** Whose records it finds. */
  scope: string;
  /** What can be done from everywhere. Their titles are texts: what is typed is looked for in them. */
  acts: (PaletteEntry & { title: string })[];
  /** Looks for records. @throws CallError */
  find: (text: string, signal: AbortSignal) => Promise<PaletteEntry[]>;
}
