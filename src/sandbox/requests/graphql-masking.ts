import type { ASTNode, DocumentNode, ValueNode } from 'graphql';
import { late } from '../../values/late.ts';
import { fieldsOf } from '../../values/unknown.ts';
import {
  isHeadersName,
  isSecretName,
  isSuspicious,
  MASK,
  maskValue,
  type Place,
  parsed,
  type Secrets,
} from './masking.ts';

/**
 * GraphQL may contain secrets under any name: in literals, in variables that only the document connects with a field, and in the answer
 * under aliases.
 */

const graphql = late((require) => require('graphql') as typeof import('graphql'));

/** The masked body of a GraphQL request, and the names under which its answer contains secrets. */
export interface MaskedGraphql {
  body: string;
  isSecret: (name: string) => boolean;
}

/** @returns undefined if the text is not a GraphQL request */
export function maskGraphql(text: string, secrets: Secrets): MaskedGraphql | undefined {
  const request = parsed(text);
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return undefined;
  const { query, variables, ...rest } = fieldsOf(request);
  if (typeof query !== 'string') return undefined;
  const document = parsedDocument(query);
  const found = document ? secretsOf(document) : undefined;
  const shown = {
    query: found ? withoutRanges(query, found.literals, secrets) : isSuspicious(query) ? MASK : query,
    ...('variables' in request ? { variables: maskVariables(variables, found, secrets) } : {}),
    ...fieldsOf(maskValue(rest, secrets)),
  };
  const keys = found?.responseKeys ?? new Set();
  return { body: JSON.stringify(shown), isSecret: (name) => keys.has(name) || isSecretName(name) };
}

function parsedDocument(query: string): DocumentNode | undefined {
  try {
    return graphql().parse(query);
  } catch {
    return undefined;
  }
}

interface Found {
  /** Literals that are secrets. */
  literals: ValueNode[];
  /** Variables that are secrets, or contain headers. */
  variables: Map<string, Place>;
  responseKeys: Set<string>;
}

function secretsOf(document: DocumentNode): Found {
  const { visit } = graphql();
  const found: Found = { literals: [], variables: new Map(), responseKeys: new Set() };
  visit(document, {
    Field: ({ name, alias }) => {
      // `value` is a field of headers only.
      if (isSecretName(name.value) || name.value === 'value') found.responseKeys.add((alias ?? name).value);
    },
    Argument: ({ name, value }) => collect(value, placeOf(name.value, 'open'), found),
  });
  // The role of a variable is known only after all its uses have been seen.
  visit(document, {
    VariableDefinition: ({ variable, defaultValue }) => {
      const place = found.variables.get(variable.name.value);
      if (defaultValue) collect(defaultValue, place ?? 'open', found);
    },
  });
  return found;
}

function placeOf(name: string, outer: Place): Place {
  if (outer === 'secret' || isSecretName(name)) return 'secret';
  if (outer === 'headers') return name === 'name' ? 'open' : 'secret';
  return isHeadersName(name) ? 'headers' : 'open';
}

function collect(value: ValueNode, place: Place, found: Found): void {
  const { Kind } = graphql();
  if (value.kind === Kind.VARIABLE) {
    if (place !== 'open' && found.variables.get(value.name.value) !== 'secret')
      found.variables.set(value.name.value, place);
  } else if (value.kind === Kind.LIST) {
    for (const item of value.values) collect(item, place, found);
  } else if (value.kind === Kind.OBJECT) {
    for (const field of value.fields) collect(field.value, placeOf(field.name.value, place), found);
  } else if (place !== 'open' && value.kind !== Kind.NULL) {
    found.literals.push(value);
  }
}

/** The document with each literal replaced in place. Everything else stays as the caller wrote it. */
function withoutRanges(query: string, literals: readonly ValueNode[], secrets: Secrets): string {
  let text = query;
  for (const literal of literals.toSorted((a, b) => start(b) - start(a))) {
    if ('value' in literal) secrets.hide(literal.value);
    text = `${text.slice(0, start(literal))}"${MASK}"${text.slice(literal.loc?.end)}`;
  }
  return text;
}

function start(node: ASTNode): number {
  return node.loc?.start ?? 0;
}

/** Masks variables. Without a document, nobody knows what a variable is for. */
function maskVariables(variables: unknown, found: Found | undefined, secrets: Secrets): unknown {
  // They may be sent as a text, and are shown in the form in which they were sent.
  const inText = typeof variables === 'string' ? parsed(variables) : undefined;
  if (typeof inText === 'object') return JSON.stringify(maskVariables(inText, found, secrets));
  if (typeof variables !== 'object' || variables === null || Array.isArray(variables))
    return maskValue(variables, secrets, 'secret');
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      const place = found ? (found.variables.get(name) ?? placeOf(name, 'open')) : 'secret';
      return [name, maskValue(value, secrets, place)];
    }),
  );
}
