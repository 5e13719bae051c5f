import { z } from 'zod';

/** A body of nothing but mistakes is not answered with all of them. */
const ISSUES_MAX = 25;
const PARAM_LENGTH_MAX = 200;

export interface RequestIssue {
  /** The path of the field, dots between its parts; empty for the body as a whole. */
  readonly param: string;
  readonly message: string;
}
export type ParsedRequest<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly [RequestIssue, ...RequestIssue[]] };

/** Checks a request's body. Every field that is unknown or wrong is an issue of its own, in the order zod found them. */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, body: unknown): ParsedRequest<z.output<Schema>> {
  const hidden = prototypeKey(body);
  if (hidden !== null) return { ok: false, issues: [{ param: hidden, message: `${hidden} is not allowed` }] };
  const result = schema.safeParse(body);
  if (result.success) return { ok: true, value: result.data };
  const [first, ...rest] = result.error.issues.flatMap(issuesOf).slice(0, ISSUES_MAX);
  return { ok: false, issues: [first ?? { param: '', message: 'The body cannot be used' }, ...rest] };
}

function issuesOf(issue: z.core.$ZodIssue): readonly RequestIssue[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const param = [...path, key].join('.').slice(0, PARAM_LENGTH_MAX);
      return { param, message: `${param} is not a field of this request` };
    });
  }
  const param = path.join('.').slice(0, PARAM_LENGTH_MAX);
  if (param === '') return [{ param, message: 'The body must be a JSON object' }];
  // A key of a map that is wrong: what is wrong with it stands one level down.
  const message =
    issue.code === 'invalid_key' ? `as a key ${issue.issues[0]?.message ?? issue.message}` : issue.message;
  return [{ param, message: `${param} ${message}` }];
}

/**
 * Checks a request's query, as node:querystring reads it. Lists are repeated (`state=created&state=pending`), maps have
 * their keys in brackets (`metadata[order]=7`), anything else may stand once.
 */
export function parseQuery<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  query: Readonly<Record<string, unknown>>,
): ParsedRequest<z.output<z.ZodObject<Shape>>> {
  const fields: [name: string, value: unknown][] = [];
  const maps = new Map<string, [key: string, value: unknown][]>();
  const issues: RequestIssue[] = [];
  for (const [name, given] of Object.entries(query)) {
    const values = Array.isArray(given) ? (given as unknown[]) : [given];
    const [, map, key] = IN_BRACKETS.exec(name) ?? [];
    const isKey = map !== undefined && key !== undefined && fieldOf(schema, map) instanceof z.ZodRecord;
    const field = fieldOf(schema, name);
    if (field instanceof z.ZodArray) fields.push([name, values]);
    else if (values.length > 1)
      issues.push({
        param: name.slice(0, PARAM_LENGTH_MAX),
        message: `${name.slice(0, PARAM_LENGTH_MAX)} may stand once`,
      });
    else if (field instanceof z.ZodRecord)
      issues.push({ param: name, message: `${name} is asked for key by key: ${name}[key]=value` });
    else if (isKey) maps.set(map, [...(maps.get(map) ?? []), [key, values[0]]]);
    else fields.push([name, values[0]]);
  }
  for (const [name, entries] of maps) fields.push([name, Object.fromEntries(entries)]);
  const parsed = parseRequest(schema, Object.fromEntries(fields));
  // The parts of a list have no names of their own.
  const named = ({ param, message }: RequestIssue): RequestIssue => {
    const [name = ''] = param.split('.');
    return fieldOf(schema, name) instanceof z.ZodArray
      ? { param: name, message: message.replace(param, name) }
      : { param, message };
  };
  const [first, ...rest] = parsed.ok ? issues : [...parsed.issues.map(named), ...issues].slice(0, ISSUES_MAX);
  if (first) return { ok: false, issues: [first, ...rest] };
  return parsed;
}

const IN_BRACKETS = /^([^[\]]+)\[([^]*)\]$/;

/** A field's schema without what makes it optional. */
function fieldOf(schema: z.ZodObject, name: string): z.core.$ZodType | undefined {
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  let field = Object.hasOwn(shape, name) ? shape[name] : undefined;
  while (field instanceof z.ZodOptional || field instanceof z.ZodDefault) field = field.unwrap();
  return field;
}

/** zod leaves the key `__proto__` of a map out without a word; a client should hear of it. Our bodies are two levels deep. */
function prototypeKey(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null;
  for (const [name, child] of Object.entries(body as Record<string, unknown>)) {
    if (typeof child === 'object' && child !== null && Object.hasOwn(child, '__proto__')) return `${name}.__proto__`;
  }
  return null;
}
