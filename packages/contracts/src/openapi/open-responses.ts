type Node = Record<string, unknown>;
/** What of a document is read and changed. */
interface Document {
  readonly paths?: unknown;
  readonly webhooks?: unknown;
  readonly components?: { readonly schemas?: unknown } | undefined;
}
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

const COMPONENT = '#/components/schemas/';
/** Lists to which values are added within a version, by component. */
const GROWING = { Error: ['error', 'code'], Event: ['type'], PayerEvent: ['type'] } as const;

/**
 * Opens what the service sends to fields and values that are added within a version of the API: validators made from
 * the document go on accepting it. What clients send stays closed, a component of both as well.
 */
export function openResponses({ paths, webhooks, components }: Document): void {
  const schemas = (components?.schemas ?? {}) as Readonly<Record<string, Node>>;
  const operations = (items: unknown): readonly Node[] =>
    Object.values((items ?? {}) as Node).flatMap((item) => (isNode(item) ? Object.values(item).filter(isNode) : []));
  const closed = new Set<string>();
  for (const { requestBody, parameters } of operations(paths)) visit([requestBody, parameters], schemas, closed);
  const opened = new Set(closed);
  const sent = [
    operations(paths).map(({ responses }) => responses),
    operations(webhooks).map(({ requestBody }) => requestBody),
  ];
  visit(sent, schemas, opened, (schema) => {
    if (schema['additionalProperties'] === false) delete schema['additionalProperties'];
  });
  for (const [component, path] of Object.entries(GROWING)) {
    const field = path.reduce(
      (schema, name) => (schema?.['properties'] as Record<string, Node>)[name],
      schemas[component],
    );
    if (!field) throw new Error(`${component} has no ${path.join('.')}`);
    field['x-extensible-enum'] = field['enum'];
    delete field['enum'];
  }
}

/** Every object below, and in the components that it refers to. @param seen their names: each is visited once */
function visit(
  value: unknown,
  schemas: Readonly<Record<string, Node>>,
  seen: Set<string>,
  each: (node: Node) => void = () => undefined,
): void {
  if (!isNode(value)) return;
  each(value);
  const { $ref } = value;
  if (typeof $ref === 'string' && $ref.startsWith(COMPONENT) && !seen.has($ref)) {
    seen.add($ref);
    visit(schemas[$ref.slice(COMPONENT.length)], schemas, seen, each);
  }
  for (const child of Object.values(value)) visit(child, schemas, seen, each);
}
