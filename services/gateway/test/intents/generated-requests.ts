import fc from 'fast-check';
import type { OpenApiDocument } from '@pf/contracts/openapi';

/** The part of JSON Schema that the document uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}
interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly schema: Schema;
}
interface DocumentedOperation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
}

/** A request generated from the document, valid or with invalid fields. */
export interface GeneratedRequest {
  readonly method: string;
  /** Including its query. */
  readonly path: string;
  readonly body: unknown;
}

/** Any text of Unicode. The `binary` unit of fast-check would first index a million code points. */
const unicode = fc
  .array(fc.oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff })), { maxLength: 50 })
  .map((points) => String.fromCodePoint(...points));

/** Values that are known to break parsers. */
const nasty = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\ud800',
    '𝒳'.repeat(300),
    '../..',
    "'; DROP TABLE intents; --",
    '%00',
    '__proto__',
    'constructor',
    -1,
    0,
    1.5,
    1e308,
    Number.MAX_SAFE_INTEGER + 2,
    true,
    null,
  ),
  fc.constantFrom<unknown>([], {}, [[]], { a: { b: {} } }),
  unicode,
  fc.jsonValue({ maxDepth: 4 }),
);

/**
 * Arbitraries for the requests of a document. `known` has values for fields by name, such as real ids and wallets.
 */
export class Requests {
  readonly #document: OpenApiDocument;
  readonly #known: Readonly<Record<string, readonly unknown[]>>;

  constructor(document: OpenApiDocument, known: Readonly<Record<string, readonly unknown[]>>) {
    this.#document = document;
    this.#known = known;
  }

  /** Any request of any operation. */
  any(): fc.Arbitrary<GeneratedRequest> {
    const operations = Object.entries(this.#document.paths ?? {}).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        this.#request(path, method, operation as unknown as DocumentedOperation),
      ),
    );
    return fc.oneof(...operations);
  }

  #request(
    path: string,
    method: string,
    { parameters = [], requestBody }: DocumentedOperation,
  ): fc.Arbitrary<GeneratedRequest> {
    const query = parameters.filter((parameter) => parameter.in === 'query');
    const queries = fc.record(Object.fromEntries(query.map(({ name, schema }) => [name, this.#field(name, schema)])), {
      requiredKeys: [],
    });
    const schema = requestBody?.content['application/json'].schema;
    const bodies: fc.Arbitrary<unknown> =
      schema === undefined
        ? fc.constant(undefined)
        : fc.oneof({ weight: 9, arbitrary: this.#valueOf(schema) }, { weight: 1, arbitrary: nasty });
    // Not "." and "..": clients normalize them away, so that the URL has another path.
    const anyId = fc.string({ minLength: 1, maxLength: 80 }).filter((text) => !/^\.{1,2}$/.test(text));
    const id = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...(this.#known['id'] ?? ['x'])) },
      { weight: 1, arbitrary: anyId },
    );
    return fc.record({ query: queries, body: bodies, id }).map(({ query: asked, body, id: named }) => ({
      method: method.toUpperCase(),
      path: `${path.replace('{id}', encodeURIComponent(String(named)))}${toQuery(asked)}`,
      body: typeof body === 'string' ? JSON.stringify(body) : body,
    }));
  }

  /** A value that the schema accepts, a known one, or one that breaks parsers. */
  #field(name: string, schema: Schema): fc.Arbitrary<unknown> {
    const known = this.#known[name];
    return fc.oneof(
      { weight: known === undefined ? 0 : 12, arbitrary: fc.constantFrom<unknown>(...(known ?? [null])) },
      { weight: known === undefined ? 12 : 3, arbitrary: this.#valueOf(schema) },
      { weight: 1, arbitrary: nasty },
    );
  }

  #valueOf(schema: Schema): fc.Arbitrary<unknown> {
    if (schema.$ref !== undefined) return this.#valueOf(this.#referred(schema.$ref));
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => this.#valueOf(one)));
    switch (Array.isArray(schema.type) ? (schema.type as readonly string[])[0] : schema.type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.integer({ min: schema.minimum ?? -1000, max: Math.min(schema.maximum ?? 1000, 2 ** 31 - 1) });
      case 'number':
        return fc.double({ noNaN: true });
      case 'string':
        return textOf(schema);
      case 'array':
        return fc.array(this.#valueOf(schema.items ?? {}), { maxLength: 3 });
      case 'object':
        return this.#objectOf(schema);
      case undefined:
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  }

  #objectOf({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
    const fields = fc.record(
      Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, this.#field(name, schema)])),
      { requiredKeys: required.filter((name) => name in properties) },
    );
    const more =
      typeof additionalProperties === 'object'
        ? fc.dictionary(fc.string({ minLength: 1, maxLength: 45 }), this.#valueOf(additionalProperties), {
            maxKeys: 22,
          })
        : fc.oneof(
            { weight: 20, arbitrary: fc.constant({}) },
            { weight: 1, arbitrary: fc.dictionary(fc.string(), nasty, { maxKeys: 2 }) },
          );
    return fc.tuple(fields, more).map(([own, others]) => ({ ...others, ...own }));
  }

  #referred(reference: string): Schema {
    const found = this.#document.components?.schemas?.[reference.split('/').at(-1) ?? ''];
    if (found === undefined) throw new Error(`the document has no ${reference}`);
    return found as Schema;
  }
}

function textOf({ pattern, format, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time')
    return fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') })
      .map((date) => date.toISOString());
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength, maxLength: Math.min(maxLength, 60) });
}

/** A generated object can have any `toString`, so it is sent as JSON. */
const queryValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Encoded like a form: arrays repeat their name, maps have their keys in brackets. */
function toQuery(asked: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    if (Array.isArray(value)) for (const one of value) params.append(name, queryValue(one));
    else if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) params.append(`${name}[${key}]`, queryValue(one));
    else params.append(name, queryValue(value));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}
