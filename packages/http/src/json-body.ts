import { parseRequest } from '@pf/contracts';
import type { z } from 'zod';
import { ApiError, validationFailed } from './http-error.ts';

/**
 * What a body may hold in all, values at any depth, and how deep they may be: the largest payment link has some 100. A
 * schema makes an issue for each value that is invalid, which takes longer than all that a valid request does.
 */
const VALUES_MAX = 500;
const DEPTH_MAX = 8;
const SIZE_RULE = `must have at most ${VALUES_MAX} values, nested at most ${DEPTH_MAX} deep`;
const PARAM_LENGTH_MAX = 200;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses and validates a JSON body. What holds more values than any valid body, or is nested deeper, is refused before.
 * @throws ApiError `request.malformed_json` or `request.validation_failed`
 */
export function parseBody<Schema extends z.ZodType>(bytes: Uint8Array, schema: Schema): z.output<Schema> {
  const parsed = parseRequest(schema, bytes.length === 0 ? {} : parseJson(bytes));
  if (!parsed.ok) throw validationFailed(parsed.issues);
  return parsed.value;
}

/**
 * The JSON of a body as `parseBody` reads it, for who passes a body on and decides by what is in it.
 * @throws ApiError `request.malformed_json` or `request.validation_failed`
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = wellFormed(() => decoder.decode(bytes));
  const field = excessiveField(text);
  if (field !== null)
    throw validationFailed([{ param: field, message: `${field || 'The request body'} ${SIZE_RULE}` }]);
  return wellFormed(() => JSON.parse(text) as unknown);
}

function wellFormed<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    // TypeError: not UTF-8; SyntaxError: not JSON. The parser's message quotes the body, so it is not sent or logged.
    throw new ApiError('request.malformed_json', { cause });
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = ['"', '\\', ',', ':'].map((sign) => sign.charCodeAt(0));
const [LIST, MAP, LIST_END, MAP_END] = ['[', '{', ']', '}'].map((sign) => sign.charCodeAt(0));

/**
 * Where JSON has more than VALUES_MAX values or is nested deeper than DEPTH_MAX: the field, empty if it is in none;
 * null if it has neither. Each list and object counts as a value. Text that is not JSON is only counted.
 */
function excessiveField(text: string): string | null {
  let [values, depth, fieldStart, fieldEnd] = [0, 0, 0, 0];
  let [stringStart, stringEnd] = [0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const sign = text.charCodeAt(index);
    if (sign === QUOTE) {
      stringStart = index + 1;
      for (index += 1; index < text.length && text.charCodeAt(index) !== QUOTE; index += 1)
        if (text.charCodeAt(index) === BACKSLASH) index += 1;
      stringEnd = index;
    } else if (sign === COLON && depth === 1) [fieldStart, fieldEnd] = [stringStart, stringEnd];
    else if (sign === LIST || sign === MAP) {
      depth += 1;
      values += 1;
    } else if (sign === LIST_END || sign === MAP_END) depth -= 1;
    else if (sign === COMMA) values += 1;
    if (values > VALUES_MAX || depth > DEPTH_MAX)
      return depth === 1 ? '' : text.slice(fieldStart, Math.min(fieldEnd, fieldStart + PARAM_LENGTH_MAX));
  }
  return null;
}
