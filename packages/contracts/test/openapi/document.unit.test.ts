import { describe, expect, it } from '@jest/globals';
import { DELIVERED_TYPES, ERROR_CODES, OPERATIONS } from '../../src/index.ts';
import { openApiDocument } from '../../src/openapi/index.ts';

type Node = Record<string, unknown>;
const document = openApiDocument(Object.values(OPERATIONS), '/v1');
const schemas = document.components?.schemas as unknown as Readonly<Record<string, Node>>;

/** Every object of a JSON document. */
function* nodesIn(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return;
  yield value as Node;
  for (const child of Object.values(value)) yield* nodesIn(child);
}
const isClosed = (value: unknown): boolean =>
  [...nodesIn(value)].some((node) => node['additionalProperties'] === false);

describe('the OpenAPI document', () => {
  it('has no boolean in place of a schema, which generators of clients refuse', () => {
    expect([...nodesIn(document)].filter(({ items }) => typeof items === 'boolean')).toEqual([]);
    expect(schemas['TypedData']).toMatchObject({
      properties: { types: { properties: { EIP712Domain: { items: {}, minItems: 4, maxItems: 4 } } } },
    });
  });

  it('opens responses and webhooks to new fields, and closes requests', () => {
    const requests = Object.keys(schemas).filter((name) => name.endsWith('Request'));
    expect(requests.length).toBeGreaterThan(10);
    // An authorization is of both.
    expect(Object.keys(schemas).filter((name) => isClosed(schemas[name]))).toEqual(
      Object.keys(schemas).filter((name) => requests.includes(name) || name === 'Authorization'),
    );
    const operations = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path as Node));
    expect(operations.filter((operation) => isClosed((operation as Node)['responses']))).toEqual([]);
    expect(isClosed(document.webhooks)).toBe(false);
  });

  it('lists the codes and types of today without excluding those of tomorrow', () => {
    expect(schemas['Error']).toMatchObject({
      properties: { error: { properties: { code: { type: 'string', 'x-extensible-enum': ERROR_CODES } } } },
    });
    for (const name of ['Error', 'Event', 'PayerEvent'])
      expect(
        [...nodesIn(schemas[name]?.['properties'])].filter((node) => 'x-extensible-enum' in node && 'enum' in node),
      ).toEqual([]);
  });

  it('has one type for all webhooks, which their type tells apart', () => {
    const { oneOf, discriminator } = schemas['WebhookEvent'] as {
      readonly oneOf: readonly { readonly $ref: string }[];
      readonly discriminator: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
    };
    expect(discriminator.propertyName).toBe('type');
    expect(Object.keys(discriminator.mapping).sort()).toEqual([...DELIVERED_TYPES].sort());
    expect(oneOf).toHaveLength(DELIVERED_TYPES.length);
    for (const [type, ref] of Object.entries(discriminator.mapping))
      expect(schemas[ref.slice('#/components/schemas/'.length)]).toMatchObject({
        properties: { type: { const: type } },
      });
  });

  it('takes a key in the header of every POST', () => {
    const posts = Object.values(document.paths ?? {}).flatMap(({ post }) => post ?? []);
    expect(posts.length).toBeGreaterThan(15);
    for (const { parameters } of posts)
      expect(parameters).toContainEqual(expect.objectContaining({ in: 'header', name: 'Idempotency-Key' }));
  });
});
