import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { PDFDocument } from '@cantoo/pdf-lib';
import { type CompileArgs, type CompileDocArgs, NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';
import { giveWay } from '../process/thread-priority.ts';
import { parseInstant } from '../values/calendar.ts';
import { codeOf, messageOf } from '../values/unknown.ts';
import { FONT_FILE } from './fonts.ts';
import type { DrawTask, JoinTask, Task, WorkerOptions } from './task.ts';

/** A drawing thread. Typst is synchronous, so it never runs on the thread that answers requests. */

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** The number of documents for which Typst keeps a layout. It keeps no parts of a statement, because no line is drawn twice. */
const MAX_CACHED_DRAWINGS = 4;

const options: WorkerOptions = workerData;
/** Priority of a steady thread while all cores are busy (`nice`: 0 to 19; a higher value yields more). */
const NICENESS = 10;
giveWay(NICENESS, options.kind === 'patient');

const fontDirectories = [join(HERE, 'fonts'), ...options.fontDirectories];
// Fonts are given as blobs. The system's fonts are kept from the compiler (system-fonts.ts).
const fontBlobs = fontDirectories.flatMap((directory) =>
  readdirSync(directory)
    .filter((name) => FONT_FILE.test(name))
    .sort()
    .map((name) => readFileSync(join(directory, name))),
);
const args: CompileArgs = { workspace: HERE, fontArgs: [{ fontBlobs }] };
const compiler = NodeCompiler.create(args);
parentPort?.postMessage('ready');
let logoPath: string | undefined;

function placeLogo(task: DrawTask): void {
  if (!task.logo || logoPath === task.logo.path) return;
  if (logoPath) compiler.unmapShadow(join(HERE, logoPath));
  compiler.mapShadow(join(HERE, task.logo.path), Buffer.from(task.logo.data));
  logoPath = task.logo.path;
}

/**
 * Draws without a JavaScript object for the laid-out document. The garbage collector does not see the memory of such an object, and would
 * leave hundreds of megabytes uncollected.
 */
function draw(task: DrawTask): Uint8Array {
  placeLogo(task);
  const by = { mainFilePath: join(HERE, task.template), inputs: { data: task.data } };
  try {
    return new Uint8Array(task.tagged ? tagged(by) : compiler.pdf(by, { pdfTags: false }));
  } catch (error) {
    // The compiler puts its diagnostics into `code`.
    throw new Error(`typst: ${codeOf(error) ?? ''} ${messageOf(error)}`.trim(), {
      cause: error,
    });
  } finally {
    compiler.evictCache(task.tagged ? MAX_CACHED_DRAWINGS : 0);
  }
}

/** PDF/UA forbids characters that no font has. A document with such a character is tagged too, but does not claim the standard. */
function tagged(by: CompileDocArgs): Buffer {
  try {
    return compiler.pdf(by, { pdfStandard: 'ua-1' });
  } catch {
    return compiler.pdf(by);
  }
}

/** Joins the parts of a long document. Dates and title come from the task, so that the same facts give the same bytes. */
async function joinParts(task: JoinTask): Promise<Uint8Array> {
  const whole = await PDFDocument.create({ updateMetadata: false });
  for (const part of task.parts) {
    const source = await PDFDocument.load(part, { updateMetadata: false });
    for (const page of await whole.copyPages(source, source.getPageIndices())) whole.addPage(page);
  }
  whole.setTitle(task.title, { showInWindowTitleBar: true });
  whole.setAuthor(task.author);
  whole.setLanguage('en-GB');
  const date = parseInstant(task.date)!;
  whole.setCreationDate(date);
  whole.setModificationDate(date);
  if (whole.getPageCount() !== task.pages)
    throw new Error(`${whole.getPageCount()} pages where ${task.pages} were numbered`);
  return whole.save({ useObjectStreams: true });
}

parentPort!.on('message', async (task: Task) => {
  try {
    const pdf = task.kind === 'draw' ? draw(task) : await joinParts(task);
    const { buffer } = pdf;
    parentPort!.postMessage({ pdf }, buffer instanceof ArrayBuffer ? [buffer] : []);
  } catch (error) {
    parentPort!.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
