import type { XmlElement } from 'libxml2-wasm';

/** An element of a validated message, without namespaces, comments and white space between elements. */
export interface Tree {
  name: string;
  /** Its text; empty if it contains elements. */
  text: string;
  /** The Ccy attribute of an amount. */
  currency: string | undefined;
  children: Tree[];
}

/** Elements that are skipped, at any depth. */
const PASSED_OVER = new Set(['SplmtryData']);

/** @param element of a document whose parser limits its depth */
export function treeOf(element: XmlElement): Tree {
  const children = elementsIn(element).flatMap((child) => (PASSED_OVER.has(child.name) ? [] : [treeOf(child)]));
  return {
    name: element.name,
    text: children.length > 0 ? '' : element.content,
    currency: element.name.endsWith('Amt') ? element.attr('Ccy')?.value : undefined,
    children,
  };
}

function elementsIn(element: XmlElement): XmlElement[] {
  const found: XmlElement[] = [];
  for (let child = element.firstChild; child; child = child.next) {
    // The library does not say what follows a processing instruction. XPath does, but takes longer.
    if (isInstruction(child)) return element.find('*').filter(isElement);
    if (isElement(child)) found.push(child);
  }
  return found;
}

/** Whether a child is a processing instruction: the only one without a neighbour. */
function isInstruction(child: object): boolean {
  return !('next' in child);
}

function isElement(node: object): node is XmlElement {
  return 'firstChild' in node;
}

/** The elements at a path of names, such as `PmtId/EndToEndId`. */
export function all(tree: Tree, path: string): Tree[] {
  let found = [tree];
  for (const name of path.split('/'))
    found = found.flatMap(({ children }) => children.filter((one) => one.name === name));
  return found;
}

/** The text of the first element at a path. */
export function textAt(tree: Tree, path: string): string | undefined {
  return all(tree, path)[0]?.text;
}

/** The text of the first element at the first path that has one. */
export function firstText(tree: Tree, ...paths: string[]): string | undefined {
  for (const path of paths) {
    const found = textAt(tree, path);
    if (found !== undefined) return found;
  }
  return undefined;
}
