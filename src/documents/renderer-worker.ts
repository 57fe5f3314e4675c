import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { PDFDocument } from '@cantoo/pdf-lib';
import { type CompileArgs, NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';
import type { DrawTask, JoinTask, Task, WorkerOptions } from './renderer.ts';

/** One drawing thread. Typst is synchronous, so it never runs on the thread that answers requests. */

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Typst keeps what it laid out for as many later drawings as this, so that memory stays flat. */
const CACHED_DRAWINGS = 4;

const options = workerData as WorkerOptions;
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

function draw(task: DrawTask): { pdf: Uint8Array; pages: number } {
  placeLogo(task);
  try {
    const compiled = compiler.compile({ mainFilePath: join(HERE, task.template), inputs: { data: task.data } });
    const document = compiled.result;
    if (!document) throw new Error(`typst: ${JSON.stringify(compiler.fetchDiagnostics(compiled.takeDiagnostics()!))}`);
    return { pdf: Uint8Array.from(exported(task, document)), pages: document.numOfPages };
  } finally {
    compiler.evictCache(CACHED_DRAWINGS);
  }
}

/** PDF/UA forbids characters that no font has; such a document is still tagged, it only does not claim the standard. */
function exported(task: DrawTask, document: Parameters<typeof compiler.pdf>[0]): Buffer {
  if (!task.tagged) return compiler.pdf(document, { pdfTags: false });
  try {
    return compiler.pdf(document, { pdfStandard: 'ua-1' });
  } catch {
    return compiler.pdf(document);
  }
}

/** Puts the parts of a long document together; dates and title come from the task, for there is no clock here. */
async function joined(task: JoinTask): Promise<{ pdf: Uint8Array; pages: number }> {
  const whole = await PDFDocument.create({ updateMetadata: false });
  for (const part of task.parts) {
    const source = await PDFDocument.load(part, { updateMetadata: false });
    for (const page of await whole.copyPages(source, source.getPageIndices())) whole.addPage(page);
  }
  whole.setTitle(task.title, { showInWindowTitleBar: true });
  whole.setAuthor(task.author);
  whole.setLanguage('en-GB');
  whole.setCreationDate(new Date(task.date));
  whole.setModificationDate(new Date(task.date));
  const pdf = await whole.save({ useObjectStreams: true });
  return { pdf, pages: whole.getPageCount() };
}

parentPort!.on('message', async (task: Task) => {
  try {
    const { pdf, pages } = task.kind === 'draw' ? draw(task) : await joined(task);
    parentPort!.postMessage({ pdf, pages }, [pdf.buffer as ArrayBuffer]);
  } catch (error) {
    parentPort!.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
