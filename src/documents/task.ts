/** The tasks of a drawing thread, and how they can fail. */

/** A page template filled with facts. */
export interface DrawTask {
  kind: 'draw';
  /** File in src/documents. */
  template: string;
  /** The facts as JSON. They are data, never markup. */
  data: string;
  logo?: { path: string; data: Uint8Array };
  /** Whether it is tagged for screen readers (PDF/UA-1). Tags make a file 15 times larger, so long statements have none. */
  tagged: boolean;
}

/** PDFs to be joined, in order. */
export interface JoinTask {
  kind: 'join';
  parts: Uint8Array[];
  /** The number of pages that they must have together. */
  pages: number;
  title: string;
  author: string;
  /** ISO 8601 instant for the metadata. */
  date: string;
}

export type Task = DrawTask | JoinTask;
/**
 * Patient threads draw single documents. They run only while nothing else on the machine does, so no request waits for a drawing. Steady
 * threads have a low priority. They draw the parts of long statements, and single documents that have waited too long on a busy machine.
 */
export type ThreadKind = 'patient' | 'steady';
export interface WorkerOptions {
  fontDirectories: string[];
  kind: ThreadKind;
}

/** Why a drawing failed: the queue is full, the renderer has stopped, the thread ended or hung, or the template failed. */
export type RenderFailure = 'busy' | 'stopped' | 'crashed' | 'timeout' | 'failed';

export class RenderError extends Error {
  readonly reason: RenderFailure;

  constructor(reason: RenderFailure, message: string) {
    super(message);
    this.name = 'RenderError';
    this.reason = reason;
  }
}
