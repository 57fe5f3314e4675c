import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { monotonic } from '../values/calendar.ts';
import { hideSystemFonts } from './system-fonts.ts';
import { RenderError, type Task, type ThreadKind, type WorkerOptions } from './task.ts';

/** Drawing threads of each kind. A second one helps only if there is a core for it. */
const MAX_DRAWING_THREADS = 2;
/** Milliseconds after which a single document is urgent: the machine is then too busy to run patient threads. */
const URGENT_AFTER_MS = 1_000;
/** The most drawings that may wait in each lane. More are refused, because their callers would give up first. */
export const MAX_WAITING_DRAWINGS = 256;
/** Milliseconds that a drawing may take before its thread is ended. A receipt takes 5. */
const DRAWING_LIMIT_MS = 30_000;

interface Job {
  task: Task;
  /** Monotonic milliseconds at which it began to wait. */
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
 * A bounded pool of drawing threads. Threads start with the first drawings and are replaced when they end. Single documents (`draw(task)`)
 * and parts of long statements (`draw(task, 'bulk')`) have separate threads, so a receipt never waits for a statement.
 */
export class Renderer {
  readonly #threads = new Set<Thread>();
  readonly #waiting: Record<'single' | 'bulk', Job[]> = { single: [], bulk: [] };
  readonly #size: number;
  readonly #fontDirectories: string[];
  readonly #drawingLimitMs: number;
  readonly #urgentAfterMs: number;
  #stopped = false;
  #urgentTimer: NodeJS.Timeout | undefined;

  /**
   * @param options `size`: threads of each kind, 1 to 2; by default 2 if the machine has more than two cores;
   *   `fontDirectories`: further fonts (ttf, otf), for scripts beyond Latin, Greek, Cyrillic, Hebrew and Arabic;
   *   `drawingLimitMs`: milliseconds for one drawing; `urgentAfterMs`: milliseconds after which a waiting document is urgent
   */
  constructor(
    options: { size?: number; fontDirectories?: string[]; drawingLimitMs?: number; urgentAfterMs?: number } = {},
  ) {
    const wanted = options.size ?? (availableParallelism() > 2 ? 2 : 1);
    this.#size = Math.max(1, Math.min(MAX_DRAWING_THREADS, wanted));
    this.#fontDirectories = options.fontDirectories ?? [];
    this.#drawingLimitMs = options.drawingLimitMs ?? DRAWING_LIMIT_MS;
    this.#urgentAfterMs = options.urgentAfterMs ?? URGENT_AFTER_MS;
  }

  /** Draws on a thread. @throws RenderError */
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

  /** Ends the threads, and rejects the drawings that are waiting or in flight. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#urgentTimer);
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
    const overdue = () => single[0] !== undefined && monotonic() - single[0].since >= this.#urgentAfterMs;
    this.#hand('steady', () => (overdue() ? single.shift() : bulk.shift()));
    clearTimeout(this.#urgentTimer);
    if (single[0] && !overdue())
      this.#urgentTimer = setTimeout(() => this.#next(), single[0].since + this.#urgentAfterMs - monotonic());
  }

  /** Gives jobs to the free threads of a kind, as long as there are both. */
  #hand(kind: ThreadKind, take: () => Job | undefined): void {
    for (;;) {
      const ofKind = [...this.#threads].filter((each) => each.kind === kind);
      const free = ofKind.find((each) => !each.job);
      if (!free && ofKind.length >= this.#size) return;
      const job = take();
      if (!job) return;
      this.#give(free ?? this.#start(kind), job);
    }
  }

  #start(kind: ThreadKind): Thread {
    const showFonts = hideSystemFonts();
    const workerData: WorkerOptions = { fontDirectories: this.#fontDirectories, kind };
    const worker = new Worker(new URL('./renderer-worker.ts', import.meta.url), { workerData, env: {} });
    const thread: Thread = { kind, worker, job: undefined, timer: undefined };
    this.#threads.add(thread);
    // Its first message says that it has its fonts.
    worker.once('message', () => {
      showFonts();
      worker.on('message', (answer: Answer) => this.#finish(thread, answer));
    });
    worker.once('exit', showFonts);
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
      this.#replace(thread, new RenderError('timeout', `a drawing took longer than ${this.#drawingLimitMs} ms`));
      void thread.worker.terminate();
    }, this.#drawingLimitMs);
    // An idle thread must not keep the process alive; a busy one must.
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
    // The next waiting job starts the new thread. So a thread that ends while starting fails one job each time, and never loops.
    if (this.#lose(thread, error) && !this.#stopped) this.#next();
  }
}
