import { readFileSync } from 'node:fs';
import { type ErrorDetail, ParseOption, XmlDocument, XmlLibError, XsdValidator } from 'libxml2-wasm';
import { faultOfBytes } from './bytes.ts';
import { type Initiation, type InitiationMessage, MAX_TRANSACTIONS, MESSAGES, type Refusal } from './initiation.ts';
import { initiationOf } from './mapping.ts';
import { faultOfTotals } from './totals.ts';
import { treeOf } from './tree.ts';

/** Nothing outside the file is read, and the bytes are UTF-8 whatever they claim. The parser's own limits stay: a depth of 256. */
const OPTION =
  ParseOption.XML_PARSE_NO_XXE |
  ParseOption.XML_PARSE_NONET |
  ParseOption.XML_PARSE_NO_SYS_CATALOG |
  ParseOption.XML_PARSE_IGNORE_ENC |
  ParseOption.XML_PARSE_BIG_LINES;

/**
 * Reads a pain.001. It takes about a second for MAX_TRANSACTIONS, so it runs in a thread of its own (`readInitiation`).
 * @param bytes the file
 * @returns its contents, or why it is refused; it throws for no file
 */
export function parseInitiation(bytes: Uint8Array): Initiation | Refusal {
  const fault = faultOfBytes(bytes);
  if (fault !== undefined) return { code: 'FF01', details: fault };
  let document: XmlDocument;
  try {
    document = XmlDocument.fromBuffer(bytes, { option: OPTION });
  } catch (error) {
    return { code: 'FF01', details: `the file is not XML: ${placed(detailOf(error))}` };
  }
  try {
    return readDocument(document);
  } finally {
    document.dispose();
  }
}

function readDocument(document: XmlDocument): Initiation | Refusal {
  const { namespaceUri } = document.root;
  const message = Object.entries(MESSAGES).find(([namespace]) => namespace === namespaceUri)?.[1];
  if (message === undefined || document.root.name !== 'Document')
    return { code: 'FF01', details: `the file must be one of ${Object.values(MESSAGES).join(', ')}` };
  const prefix = { p: namespaceUri };
  const messageId = identifierIn(document.get('/p:Document/p:CstmrCdtTrfInitn/p:GrpHdr/p:MsgId', prefix)?.content);
  const refuse = (details: string): Refusal => ({ code: 'FF01', message, messageId, details });
  const count = Number(document.eval('count(//p:CdtTrfTxInf)', prefix));
  if (count > MAX_TRANSACTIONS) return refuse(`the file has ${count} transactions; ${MAX_TRANSACTIONS} are allowed`);
  const fault = schemaFault(document, message);
  if (fault !== undefined) return refuse(fault);
  const initiation = initiationOf(treeOf(document.root), message);
  const wrong = faultOfTotals(
    initiation,
    initiation.blocks.flatMap(({ transactions }) => transactions),
  );
  if (!wrong) return initiation;
  return { ...refuse(wrong.details), code: wrong.of === 'count' ? 'AM19' : 'AM10' };
}

/** A MsgId that an answer may repeat. */
function identifierIn(text: string | undefined): string | undefined {
  return text !== undefined && text !== '' && [...text].length <= 35 ? text : undefined;
}

/** What is wrong with a document according to the published schema of its message. */
function schemaFault(document: XmlDocument, message: InitiationMessage): string | undefined {
  const schema = XmlDocument.fromBuffer(readFileSync(new URL(`./schemas/${message}.xsd`, import.meta.url)));
  const validator = XsdValidator.fromDoc(schema);
  try {
    validator.validate(document);
    return undefined;
  } catch (error) {
    return `the file is not a valid ${message}: ${placed(detailOf(error))}`;
  } finally {
    validator.dispose();
    schema.dispose();
  }
}

/** The first fault that the library found. @throws the error itself if it is not the library's */
function detailOf(error: unknown): ErrorDetail | undefined {
  if (error instanceof XmlLibError) return error.details[0];
  throw error;
}

const ELEMENT = /^Element '([A-Za-z0-9]{1,40})'(?:, attribute '[A-Za-z]{1,20}')?: (.*)$/s;
/** Messages of the library that do not repeat a value. */
const STRUCTURE = /^(This element is not expected|Missing child element|Character content other than whitespace)/;
const FACET = /^\[facet '([A-Za-z]+)'\]/;
/** The most characters of the library's message that are shown. */
const MAX_SAID = 160;

/** The place and the kind of a fault. It repeats no text of the file, because that may be an account. */
function placed(detail: ErrorDetail | undefined): string {
  if (!detail) return 'it cannot be read';
  const [, name, said = ''] = ELEMENT.exec(detail.message.replaceAll(/\{[^}]*\}/g, '').trim()) ?? [];
  if (name === undefined) return `line ${detail.line}`;
  const [, facet] = FACET.exec(said) ?? [];
  const what = STRUCTURE.test(said) ? said.slice(0, MAX_SAID) : `its value is not valid${facet ? ` (${facet})` : ''}`;
  return `line ${detail.line}, ${name}: ${what}`;
}
