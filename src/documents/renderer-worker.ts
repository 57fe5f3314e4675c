import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { PDFDocument } from '@cantoo/pdf-lib';
import { type CompileArgs, type CompileDocArgs, NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';
import { parseInstant } from '../calendar.ts';
import { giveWay } from '../thread-priority.ts';
import type { DrawTask, JoinTask, Task, WorkerOptions } from './renderer.ts';

/** One drawing thread. Typst is synchronous, so it never runs on the thread that answers requests. */

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Typst keeps what it laid out for as many later documents as this; of the parts of a statement nothing, for no line comes twice. */
const CACHED_DRAWINGS = 4;

const options = workerData as WorkerOptions;
/** How much a steady thread stands back (`nice`) where all cores are busy. */
const NICENESS = 10;
giveWay(NICENESS, options.kind === 'patient');

const fontDirectories = [join(HERE, 'fonts'), ...options.font_directories];
// Fonts as blobs: with font paths the compiler would look through the system's fonts too, and documents would differ
// from machine to machine.
const fontBlobs = fontDirectories.flatMap((directory) =>
  readdirSync(directory)
    .filter((name) => /\.(ttf|otf|ttc)$/i.test(name))
    .sort()
    .map((name) => readFileSync(join(directory, name))),
);
const args: CompileArgs = { workspace: HERE, fontArgs: [{ fontBlobs }] };
const compiler = NodeCompiler.create(args);
let logoPath: string | undefined;

function placeLogo(task: DrawTask): void {
  if (!task.logo || logoPath === task.logo.path) return;
  if (logoPath) compiler.unmapShadow(join(HERE, logoPath));
  compiler.mapShadow(join(HERE, task.logo.path), Buffer.from(task.logo.data));
  logoPath = task.logo.path;
}

/**
 * Draws without holding the laid-out document in a JavaScript object: the collector does not see its memory and would let
 * hundreds of megabytes wait.
 */
function draw(task: DrawTask): Uint8Array {
  placeLogo(task);
  const by = { mainFilePath: join(HERE, task.template), inputs: { data: task.data } };
  try {
    return new Uint8Array(task.tagged ? tagged(by) : compiler.pdf(by, { pdfTags: false }));
  } catch (error) {
    // The compiler puts its diagnostics into `code`.
    throw new Error(`typst: ${(error as { code?: string }).code ?? ''} ${(error as Error).message}`.trim(), {
      cause: error,
    });
  } finally {
    compiler.evictCache(task.tagged ? CACHED_DRAWINGS : 0);
  }
}

/** PDF/UA forbids characters that no font has; such a document is still tagged, it only does not claim the standard. */
function tagged(by: CompileDocArgs): Buffer {
  try {
    return compiler.pdf(by, { pdfStandard: 'ua-1' });
  } catch {
    return compiler.pdf(by);
  }
}

/** Puts the parts of a long document together; dates and title come from the task, for there is no clock here. */
async function joined(task: JoinTask): Promise<Uint8Array> {
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
    const pdf = task.kind === 'draw' ? draw(task) : await joined(task);
    parentPort!.postMessage({ pdf }, [pdf.buffer as ArrayBuffer]);
  } catch (error) {
    parentPort!.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
