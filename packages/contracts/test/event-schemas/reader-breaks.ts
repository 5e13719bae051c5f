/** A JSON Schema, as far as eventSchemas() uses the language. */
interface Schema {
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly [keyword: string]: unknown;
}

/**
 * What a program that reads by the old schema would not understand of a document by the new one: something is gone, may
 * now be absent or null, has another type, or a value that was not possible. Fields and event types that are added are
 * none of these.
 */
export function readerBreaks(old: object, current: object): readonly string[] {
  const [before, after] = [old as Schema, current as Schema];
  return Object.entries(before.$defs ?? {}).flatMap(([name, definition]) => {
    const found = after.$defs?.[name];
    return found === undefined ? [`${name} is gone`] : compare(name, definition, found);
  });
}

function compare(at: string, old: Schema, current: Schema): readonly string[] {
  const [before, after] = [alternativesOf(old), alternativesOf(current)];
  if (before.length === 1 && after.length === 1 && before[0] && after[0]) return compareOne(at, before[0], after[0]);
  // Each of the new alternatives was one of the old.
  return after.flatMap((one) => {
    const breaks = before.map((other) => compareOne(at, other, one));
    return breaks.some((none) => none.length === 0) ? [] : [closest(breaks) ?? `${at} can be ${typeOf(one)}`];
  });
}

/** Where one alternative of the same type differs, that is the message. */
const closest = (breaks: readonly (readonly string[])[]): string | undefined =>
  breaks.flat().find((text) => !text.includes(' can be '));

/** A schema with `anyOf`, `oneOf` or several types, one by one. */
function alternativesOf(schema: Schema): readonly Schema[] {
  const several = schema.anyOf ?? schema.oneOf;
  if (several !== undefined) return several.flatMap(alternativesOf);
  if (Array.isArray(schema.type)) return schema.type.map((type: string) => ({ ...schema, type }));
  return [schema];
}

function compareOne(at: string, old: Schema, current: Schema): readonly string[] {
  if (Object.keys(old).length === 0) return [];
  if (old.$ref !== current.$ref) return [`${at} refers to ${current.$ref ?? 'nothing'}`];
  if (typeOf(old) !== typeOf(current) && !(old.type === 'number' && current.type === 'integer'))
    return [`${at} can be ${typeOf(current)}`];
  return [
    ...compareValues(at, old, current),
    ...compareLimits(at, old, current),
    ...Object.entries(old.properties ?? {}).flatMap(([name, property]) => {
      const [place, found] = [`${at}.${name}`, current.properties?.[name]];
      if (found === undefined) return [`${place} is gone`];
      const isOptional = old.required?.includes(name) === true && current.required?.includes(name) !== true;
      return [...(isOptional ? [`${place} can be absent`] : []), ...compare(place, property, found)];
    }),
    ...(old.items && current.items ? compare(`${at}[]`, old.items, current.items) : []),
    ...(old.additionalProperties && current.additionalProperties
      ? compare(`${at}.*`, old.additionalProperties, current.additionalProperties)
      : []),
  ];
}

const typeOf = ({ type }: Schema): string => (typeof type === 'string' ? type : 'anything');

/** Null where every value of the type is possible. */
const valuesOf = (schema: Schema): readonly unknown[] | null =>
  schema.enum ?? (schema.const === undefined ? null : [schema.const]);

function compareValues(at: string, old: Schema, current: Schema): readonly string[] {
  const [before, after] = [valuesOf(old), valuesOf(current)];
  if (before === null) return [];
  if (after === null) return [`${at} can be any ${typeOf(current)}`];
  return after.filter((value) => !before.includes(value)).map((value) => `${at} can be ${JSON.stringify(value)}`);
}

function compareLimits(at: string, old: Schema, current: Schema): readonly string[] {
  return [
    ...['pattern', 'format']
      .filter((keyword) => old[keyword] !== undefined && old[keyword] !== current[keyword])
      .map((keyword) => `${at} has another ${keyword}`),
    ...['maxLength', 'maximum']
      .filter((keyword) => old[keyword] !== undefined && !(Number(current[keyword]) <= Number(old[keyword])))
      .map((keyword) => `${at} has a larger ${keyword}`),
  ];
}
