import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

// biome-ignore lint/suspicious/noExplicitAny: a document of another standard
type Json = any;

/** An answer of the service as it was received. */
export interface Received {
  status: number;
  headers: Headers;
  text: string;
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
/** Keys whose values may look like schemas but are not. */
const VALUES = new Set(['example', 'examples', 'default', 'enum', 'const']);

/** A copy in which objects accept described fields only, unless their schema allows others. */
function closed(value: Json): Json {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Json = {};
  for (const [key, inner] of Object.entries(value)) copy[key] = VALUES.has(key) ? inner : closed(inner);
  if (typeof copy.properties === 'object' && copy.type === 'object' && copy.additionalProperties === undefined)
    copy.additionalProperties = false;
  return copy;
}

/** Checks real answers against an OpenAPI document, and records which operations have succeeded. */
export class DescriptionJudge {
  readonly #name: string;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #operations: { place: string; method: string; pattern: RegExp; operation: Json }[] = [];
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly #succeeded = new Set<string>();

  constructor(name: string, document: Json) {
    this.#name = name;
    this.#ajv.addSchema({ $id: 'document', ...closed(document) });
    // Fixed paths come before those with parameters.
    const paths = Object.entries<Json>(document.paths).sort(([a], [b]) => a.split('{').length - b.split('{').length);
    for (const [path, item] of paths) {
      const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
      for (const method of METHODS)
        if (item[method])
          this.#operations.push({ place: `${method.toUpperCase()} ${path}`, method, pattern, operation: item[method] });
    }
  }

  /**
   * @returns the operation, such as `GET /payments/{payment_id}`.
   * @throws AssertionError if the answer is not described
   */
  check(method: string, path: string, { status, headers, text }: Received): string {
    const [pathname = ''] = path.split('?');
    const found = this.#operations.find((each) => each.method === method.toLowerCase() && each.pattern.test(pathname));
    assert.ok(found, `${this.#name}: ${method} ${pathname} is not described`);
    const { place, operation } = found;
    const answer = operation.responses[status];
    assert.ok(answer, `${this.#name}: ${place} answered ${status}, which is not described: ${text}`);
    if (status < 400) this.#succeeded.add(place);
    const media = (headers.get('content-type') ?? '').split(';')[0] as string;
    assert.ok(answer.content || text === '', `${place}: ${status} has a body`);
    if (!answer.content) return place;
    const content = answer.content[media];
    assert.ok(content?.schema, `${this.#name}: ${place}: ${status} came as "${media}", which is not described`);
    for (const name of Object.keys(answer.headers ?? {})) {
      const optional =
        /^(RateLimit.*|idempotency-replayed|x-total-count|x-configuration-version|WWW-Authenticate)$/i.test(name);
      assert.ok(optional || headers.has(name), `${place}: ${status} has no header ${name}`);
    }
    if (media !== 'application/json') return place;
    const pointer = `/paths/${escaped(place.split(' ')[1] as string)}/${found.method}/responses/${status}/content/${escaped(media)}/schema`;
    let validate = this.#compiled.get(pointer);
    if (!validate) {
      validate = this.#ajv.compile({ $ref: `document#${pointer}` });
      this.#compiled.set(pointer, validate);
    }
    const body: Json = JSON.parse(text);
    assert.ok(
      (validate as (value: Json) => boolean)(body),
      `${this.#name}: ${place}: ${status}: ${JSON.stringify(validate.errors?.slice(0, 3))}\n${text.slice(0, 2_000)}`,
    );
    if (status >= 400 && !body.errors) {
      const code = body.code ?? body.error;
      assert.ok(content.examples?.[code], `${this.#name}: ${place}: ${status} has no example of ${code}`);
    }
    return place;
  }

  /** The operations that have not succeeded yet. */
  missing(): string[] {
    return this.#operations.map(({ place }) => place).filter((place) => !this.#succeeded.has(place));
  }
}

/** A part of a JSON pointer in a URI. */
function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
