import { z } from 'zod';
import { type Complete, LACKS_FEE_PAYER, type Parsed, type Submitted } from './port.ts';

/**
 * Reads a payload that has the transaction for us to send in one field, or the hash of one that the client has sent in
 * another.
 */
export function parsePayload(
  payload: unknown,
  [signedType, signedField]: readonly [type: string, field: string],
  [sentType, sentField]: readonly [type: string, field: string],
  parseSubmitted: (text: string) => Parsed<Submitted>,
): Parsed<Complete> {
  const kinds = new Map([
    [signedType, ['signed', signedField] as const],
    [sentType, ['sent', sentField] as const],
  ]);
  const read = z.looseObject({ type: z.string() }).safeParse(payload);
  const [kind, field] = (read.success ? kinds.get(read.data.type) : undefined) ?? [];
  const text = z.string().safeParse(field === undefined || !read.success ? undefined : read.data[field]);
  if (!text.success)
    return {
      ok: false,
      problem: `must be {"type": "${signedType}", "${signedField}": …} or {"type": "${sentType}", "${sentField}": …}`,
    };
  const parsed = parseSubmitted(text.data);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  if (value.kind === 'handed') return { ok: false, problem: LACKS_FEE_PAYER };
  if (value.kind === kind) return { ok: true, value };
  return { ok: false, problem: `has the type "${kind === 'sent' ? sentType : signedType}", but another content` };
}
