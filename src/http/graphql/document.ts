import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { isStorable, NOT_STORABLE } from '../../values/text.ts';
import { LIMITS, limitError } from './limits.ts';

/** The size of a selection set with its fragments resolved. */
interface SelectionShape {
  fields: number;
  aliases: number;
  depth: number;
  /** Fields of the set itself, without those in deeper sets. */
  breadth: number;
}

/**
 * Parses a document and refuses it if its shape exceeds a limit. Its time depends on the text and not on the resolved fragments. A document
 * that passes is small enough for the rules of GraphQL's validation, some of which compare every field with every other one.
 * @throws GraphQLError of the syntax or of a limit
 */
export function readDocument(text: string): DocumentNode {
  if (text.length > LIMITS.DOCUMENT_CHARACTERS) {
    throw limitError('DOCUMENT_CHARACTERS', `The document has ${text.length} characters`);
  }
  const document = parseWithin(text);
  let directives = 0;
  let spreads = 0;
  visit(document, {
    Directive() {
      directives += 1;
    },
    FragmentSpread() {
      spreads += 1;
    },
    StringValue(node) {
      if (!isStorable(node.value)) throw new GraphQLError(`A text of the document ${NOT_STORABLE}`, { nodes: node });
    },
  });
  if (spreads > LIMITS.SPREADS) throw limitError('SPREADS', `The document spreads ${spreads} fragments`);
  if (directives > LIMITS.DIRECTIVES) throw limitError('DIRECTIVES', `The document has ${directives} directives`);
  checkShapes(document);
  return document;
}

function parseWithin(text: string): DocumentNode {
  try {
    return parse(text, { maxTokens: LIMITS.TOKENS, noLocation: false });
  } catch (error) {
    if (error instanceof GraphQLError && /tokens/.test(error.message))
      throw limitError('TOKENS', 'The document has too many tokens');
    if (error instanceof RangeError) throw limitError('DEPTH', 'The document is nested too deep');
    throw error;
  }
}

function checkShapes(document: DocumentNode): void {
  const fragments = fragmentsOf(document);
  const known = new Map<string, SelectionShape | 'open'>();

  const ofFragment = (name: string): SelectionShape => {
    const fragment = fragments.get(name);
    const shape = known.get(name);
    // Validation reports unknown fragments.
    if (fragment === undefined) return { fields: 0, aliases: 0, depth: 0, breadth: 0 };
    if (shape === 'open') throw new GraphQLError(`Fragment "${name}" contains itself`, { nodes: fragment });
    if (shape !== undefined) return shape;
    known.set(name, 'open');
    const made = ofSet(fragment.selectionSet);
    known.set(name, made);
    return made;
  };

  const ofSet = (set: SelectionSetNode): SelectionShape => {
    const shape: SelectionShape = { fields: 0, aliases: 0, depth: 1, breadth: 0 };
    const add = (inner: SelectionShape, ownDepth: number) => {
      shape.fields += inner.fields;
      shape.aliases += inner.aliases;
      shape.depth = Math.max(shape.depth, inner.depth + ownDepth);
      shape.breadth += inner.breadth;
    };
    for (const selection of set.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) add(ofFragment(selection.name.value), 0);
      else if (selection.kind === Kind.INLINE_FRAGMENT) add(ofSet(selection.selectionSet), 0);
      else {
        shape.fields += 1;
        shape.breadth += 1;
        if (selection.alias) shape.aliases += 1;
        if (selection.selectionSet) add({ ...ofSet(selection.selectionSet), breadth: 0 }, 1);
      }
    }
    return shape;
  };

  const total = { fields: 0, aliases: 0 };
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      check(ofFragment(definition.name.value), total);
    } else if (definition.kind === Kind.OPERATION_DEFINITION) {
      const shape = ofSet(definition.selectionSet);
      if (shape.breadth > LIMITS.ROOT_FIELDS)
        throw limitError('ROOT_FIELDS', `An operation has ${shape.breadth} fields at its root`);
      total.fields += shape.fields;
      total.aliases += shape.aliases;
      check(shape, total);
    }
  }
}

function check(shape: SelectionShape, total: { fields: number; aliases: number }): void {
  const fields = Math.max(shape.fields, total.fields);
  const aliases = Math.max(shape.aliases, total.aliases);
  if (shape.depth > LIMITS.DEPTH) throw limitError('DEPTH', `The document is nested ${shape.depth} levels deep`);
  if (fields > LIMITS.FIELDS) throw limitError('FIELDS', `The document comes to ${fields} fields`);
  if (aliases > LIMITS.ALIASES) throw limitError('ALIASES', `The document comes to ${aliases} aliases`);
}

/** The fragments of a document by name. */
export function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  return fragments;
}

/**
 * The operation to execute.
 * @throws GraphQLError if there is none, none of that name, or several and no name
 */
export function chooseOperation(document: DocumentNode, name: string | undefined): OperationDefinitionNode {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const chosen = name === undefined ? operations : operations.filter((operation) => operation.name?.value === name);
  const [one, another] = chosen;
  if (one && !another) return one;
  if (name !== undefined) throw new GraphQLError(`operationName: the document has no operation "${name.slice(0, 64)}"`);
  if (operations.length === 0) throw new GraphQLError('query: the document has no operation');
  throw new GraphQLError('operationName: is required, as the document has several operations');
}

/** A copy of a document in which some connections get the argument `first`, replacing a missing one or null. */
export function withPages(document: DocumentNode, pages: ReadonlyMap<FieldNode, number>): DocumentNode {
  if (pages.size === 0) return document;
  return visit(document, {
    Field: {
      // The copy keeps the child nodes, so that their pages are found too.
      enter(node) {
        const page = pages.get(node);
        if (page === undefined) return undefined;
        const others = (node.arguments ?? []).filter((argument) => argument.name.value !== 'first');
        const first = {
          kind: Kind.ARGUMENT,
          name: { kind: Kind.NAME, value: 'first' },
          value: { kind: Kind.INT, value: String(page) },
        } as const;
        return { ...node, arguments: [...others, first] };
      },
    },
  });
}
