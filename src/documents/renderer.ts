import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { monotonic } from '../calendar.ts';

/** Drawing threads of each kind; a second one pays where there is a core for it. */
const MAX_DRAWING_THREADS = 2;
/** Milliseconds after which a single document is urgent: the machine is so busy that the patient threads get nothing of it. */
const DRAWING_PATIENCE = 1_000;
/** Drawings that may wait; more are refused, for their callers would have gone before their turn. */
export const MAX_WAITING_DRAWINGS = 256;
/** Milliseconds a drawing may take before its thread is given up. A receipt takes 5. */
const DRAWING_DEADLINE = 30_000;

/** A page template filled with facts. */
export interface DrawTask {
  kind: 'draw';
  /** File in src/documents. */
  template: string;
  /** The facts as JSON: data, never markup. */
  data: string;
  logo?: { path: string; data: Uint8Array };
  /** Tagged for screen readers (PDF/UA-1). Costs 15 times the size, so long statements do without. */
  tagged: boolean;
}

/** PDFs to be put together in their order. */
export interface JoinTask {
  kind: 'join';
  parts: Uint8Array[];
  /** Pages they must have together. */
  pages: number;
  title: string;
  author: string;
  /** ISO 8601 instant for the metadata. */
  date: string;
}

export type Task = DrawTask | JoinTask;
/**
 * Patient threads draw single documents and give way to everything else on the machine at once: no request waits for a drawing. Steady ones
 * draw the parts of long statements, at a low priority, and what a busy machine has let wait for too long.
 */
export type ThreadKind = 'patient' | 'steady';
export interface WorkerOptions {
  font_directories: string[];
  kind: ThreadKind;
}

/** Why there is no drawing: the queue is full, the renderer has stopped, the thread ended or hung, or the template failed. */
export type RenderFailure = 'busy' | 'stopped' | 'crashed' | 'timeout' | 'failed';

export class RenderError extends Error {
  readonly reason: RenderFailure;

  constructor(reason: RenderFailure, message: string) {
    super(message);
    this.name = 'RenderError';
    this.reason = reason;
  }
}

interface Job {
  task: Task;
  /** Monotonic milliseconds. */
  since: number;
  resolve: (pdf: Buffer) => void;
  reject: (error: RenderError) => void;
}

interface Thread {
  kind: ThreadKind;
  worker: Worker;
  job: Job | undefined;
  timer: NodeJS.Timeout | undefined;
}

type Answer = { pdf: Uint8Array } | { error: string };

/**
 * A bounded pool of drawing threads. Threads start with the first drawings and are replaced when they end.
 * Single documents (`draw(task)`) have threads of their own beside those for the parts of long statements (`draw(task, 'bulk')`), so that
 * a receipt never waits for a statement.
 */
export class Renderer {
  readonly #threads = new Set<Thread>();
  readonly #waiting: Record<'single' | 'bulk', Job[]> = { single: [], bulk: [] };
  readonly #size: number;
  readonly #fontDirectories: string[];
  readonly #deadline: number;
  readonly #patience: number;
  #stopped = false;
  #impatience: NodeJS.Timeout | undefined;

  /**
   * @param options.size threads of each kind, 1 to 2; by default 2 where the machine has more than two cores
   * @param options.font_directories further fonts (ttf, otf), for scripts beyond Latin, Greek, Cyrillic, Hebrew and Arabic
   * @param options.deadline milliseconds for one drawing
   * @param options.patience milliseconds after which a document that waits is urgent
   */
  constructor(options: { size?: number; font_directories?: string[]; deadline?: number; patience?: number } = {}) {
    const wanted = options.size ?? (availableParallelism() > 2 ? 2 : 1);
    this.#size = Math.max(1, Math.min(MAX_DRAWING_THREADS, wanted));
    this.#fontDirectories = options.font_directories ?? [];
    this.#deadline = options.deadline ?? DRAWING_DEADLINE;
    this.#patience = options.patience ?? DRAWING_PATIENCE;
  }

  /**
   * Draws on a thread.
   * @throws RenderError
   */
  draw(task: Task, lane: 'single' | 'bulk' = 'single'): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) return reject(new RenderError('stopped', 'the renderer has stopped'));
      if (this.#waiting[lane].length >= MAX_WAITING_DRAWINGS) {
        return reject(new RenderError('busy', `${MAX_WAITING_DRAWINGS} drawings are waiting`));
      }
      this.#waiting[lane].push({ task, since: monotonic(), resolve, reject });
      this.#next();
    });
  }

  /** Ends the threads; what waits or is under way is rejected. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#impatience);
    for (const job of [...this.#waiting.single.splice(0), ...this.#waiting.bulk.splice(0)]) {
      job.reject(new RenderError('stopped', 'the renderer has stopped'));
    }
    await Promise.all(
      [...this.#threads].map((thread) => {
        this.#lose(thread, new RenderError('stopped', 'the renderer has stopped'));
        return thread.worker.terminate();
      }),
    );
  }

  #next(): void {
    const { single, bulk } = this.#waiting;
    this.#hand('patient', () => single.shift());
    const overdue = () => single[0] !== undefined && monotonic() - single[0].since >= this.#patience;
    this.#hand('steady', () => (overdue() ? single.shift() : bulk.shift()));
    clearTimeout(this.#impatience);
    if (single[0] && !overdue())
      this.#impatience = setTimeout(() => this.#next(), single[0].since + this.#patience - monotonic());
  }

  /** Gives jobs to the free threads of a kind, as long as there are both. */
  #hand(kind: ThreadKind, take: () => Job | undefined): void {
    for (;;) {
      const mine = [...this.#threads].filter((each) => each.kind === kind);
      const free = mine.find((each) => !each.job);
      if (!free && mine.length >= this.#size) return;
      const job = take();
      if (!job) return;
      this.#give(free ?? this.#start(kind), job);
    }
  }

  #start(kind: ThreadKind): Thread {
    const workerData: WorkerOptions = { font_directories: this.#fontDirectories, kind };
    const worker = new Worker(new URL('./renderer-worker.ts', import.meta.url), { workerData, env: {} });
    const thread: Thread = { kind, worker, job: undefined, timer: undefined };
    this.#threads.add(thread);
    worker.on('message', (answer: Answer) => this.#finish(thread, answer));
    worker.on('error', (error) =>
      this.#replace(thread, new RenderError('crashed', `a drawing thread failed: ${error.message}`)),
    );
    worker.on('exit', (code) =>
      this.#replace(thread, new RenderError('crashed', `a drawing thread ended with ${code}`)),
    );
    worker.unref();
    return thread;
  }

  #give(thread: Thread, job: Job): void {
    thread.job = job;
    thread.timer = setTimeout(() => {
      this.#replace(thread, new RenderError('timeout', `a drawing took longer than ${this.#deadline} ms`));
      void thread.worker.terminate();
    }, this.#deadline);
    // An idle thread must not keep the process alive, one at work must.
    thread.worker.ref();
    thread.worker.postMessage(job.task);
  }

  #finish(thread: Thread, answer: Answer): void {
    const job = thread.job;
    clearTimeout(thread.timer);
    thread.job = undefined;
    thread.worker.unref();
    if (job && 'error' in answer) job.reject(new RenderError('failed', answer.error));
    else if (job && 'pdf' in answer) job.resolve(Buffer.from(answer.pdf.buffer));
    this.#next();
  }

  #lose(thread: Thread, error: RenderError): boolean {
    clearTimeout(thread.timer);
    thread.job?.reject(error);
    thread.job = undefined;
    return this.#threads.delete(thread);
  }

  #replace(thread: Thread, error: RenderError): void {
    // The next waiting job starts the new thread: a thread that dies at its start then costs a job each time and never loops.
    if (this.#lose(thread, error) && !this.#stopped) this.#next();
  }
}
