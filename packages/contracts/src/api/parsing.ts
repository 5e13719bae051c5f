import { z } from 'zod';

/** Bounds the size of an error response, however many fields of the request are invalid. */
const ISSUES_MAX = 25;
const PARAM_LENGTH_MAX = 200;

export interface RequestIssue {
  /** Path of the field, its parts separated by dots; empty for the body as a whole. */
  readonly param: string;
  readonly message: string;
}
export type ParsedRequest<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly [RequestIssue, ...RequestIssue[]] };

/** Validates a request body. Each unknown or invalid field is an issue, in the order in which zod reports them. */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, body: unknown): ParsedRequest<z.output<Schema>> {
  const forbidden = prototypeKey(body);
  if (forbidden !== null)
    return { ok: false, issues: [{ param: forbidden, message: `${forbidden} is not an allowed key` }] };
  const result = schema.safeParse(body);
  if (result.success) return { ok: true, value: result.data };
  const [first, ...rest] = result.error.issues.flatMap(issuesOf).slice(0, ISSUES_MAX);
  return { ok: false, issues: [first ?? { param: '', message: 'The request body is invalid' }, ...rest] };
}

function issuesOf(issue: z.core.$ZodIssue): readonly RequestIssue[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const param = [...path, key].join('.').slice(0, PARAM_LENGTH_MAX);
      return { param, message: `${param} is not a parameter of this request: remove it, or check its spelling` };
    });
  }
  const param = path.join('.').slice(0, PARAM_LENGTH_MAX);
  if (param === '') return [{ param, message: 'The request body must be a JSON object' }];
  // An invalid key of a map: zod nests the reason in the issue.
  const message =
    issue.code === 'invalid_key'
      ? `has an invalid key: it ${issue.issues[0]?.message ?? issue.message}`
      : issue.message;
  return [{ param, message: `${param} ${message}` }];
}

/**
 * Validates a request's query as `node:querystring` parses it. Lists are repeated (`state=created&state=pending`), maps
 * have their keys in brackets (`metadata[order]=7`), and any other parameter may appear once.
 */
export function parseQuery<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  query: Readonly<Record<string, unknown>>,
): ParsedRequest<z.output<z.ZodObject<Shape>>> {
  const fields: [name: string, value: unknown][] = [];
  const maps = new Map<string, [key: string, value: unknown][]>();
  const issues: RequestIssue[] = [];
  for (const [name, value] of Object.entries(query)) {
    const values = Array.isArray(value) ? (value as unknown[]) : [value];
    const [, map, key] = IN_BRACKETS.exec(name) ?? [];
    const isKey = map !== undefined && key !== undefined && fieldOf(schema, map) instanceof z.ZodRecord;
    const field = fieldOf(schema, name);
    if (field instanceof z.ZodArray) fields.push([name, values]);
    else if (values.length > 1)
      issues.push({
        param: name.slice(0, PARAM_LENGTH_MAX),
        message: `${name.slice(0, PARAM_LENGTH_MAX)} must not be repeated`,
      });
    else if (field instanceof z.ZodRecord)
      issues.push({ param: name, message: `${name} must name a key, as in ${name}[key]=value` });
    else if (isKey) maps.set(map, [...(maps.get(map) ?? []), [key, values[0]]]);
    else fields.push([name, values[0]]);
  }
  for (const [name, entries] of maps) fields.push([name, Object.fromEntries(entries)]);
  const parsed = parseRequest(schema, Object.fromEntries(fields));
  // A list is one parameter, so its items are not numbered.
  const withoutIndex = ({ param, message }: RequestIssue): RequestIssue => {
    const [name = ''] = param.split('.');
    return fieldOf(schema, name) instanceof z.ZodArray
      ? { param: name, message: message.replace(param, name) }
      : { param, message };
  };
  const [first, ...rest] = parsed.ok ? issues : [...parsed.issues.map(withoutIndex), ...issues].slice(0, ISSUES_MAX);
  if (first) return { ok: false, issues: [first, ...rest] };
  return parsed;
}

const IN_BRACKETS = /^([^[\]]+)\[([^]*)\]$/;

/** A field's schema, unwrapped from optional and default. */
function fieldOf(schema: z.ZodObject, name: string): z.core.$ZodType | undefined {
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  let field = Object.hasOwn(shape, name) ? shape[name] : undefined;
  while (field instanceof z.ZodOptional || field instanceof z.ZodDefault) field = field.unwrap();
  return field;
}

/** The path of a `__proto__` key, which zod would drop silently from a map. Request bodies are two levels deep. */
function prototypeKey(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null;
  for (const [name, child] of Object.entries(body as Record<string, unknown>)) {
    if (typeof child === 'object' && child !== null && Object.hasOwn(child, '__proto__')) return `${name}.__proto__`;
  }
  return null;
}
