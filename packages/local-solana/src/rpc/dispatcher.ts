import { z } from 'zod';
import { accountMethods } from '../methods/accounts.ts';
import { clusterMethods } from '../methods/cluster.ts';
import { controlMethods } from '../methods/controls.ts';
import { feeMethods } from '../methods/fees.ts';
import { historyMethods } from '../methods/history.ts';
import { sendingMethods } from '../methods/sending.ts';
import { decode, encode } from '../json.ts';
import { invalidRequest, methodNotFound, parseError, RpcError } from './error.ts';
import type { Methods, Node } from './method.ts';

const methods: Methods = {
  ...accountMethods,
  ...clusterMethods,
  ...controlMethods,
  ...feeMethods,
  ...historyMethods,
  ...sendingMethods,
};

const request = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.bigint(), z.null()]).optional(),
  method: z.string(),
  params: z.array(z.unknown()).nullish(),
});
type Request = z.infer<typeof request>;
type Response = { readonly jsonrpc: '2.0'; readonly id: unknown } & (
  { readonly result: unknown } | { readonly error: unknown }
);

/** Runs a request. @throws RpcError */
export type Dispatch = (request: Request) => unknown;

/** Calls a method by its name. */
export function dispatchTo(node: Node): Dispatch {
  return ({ method: name, params }) => {
    const found = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (found === undefined) throw methodNotFound();
    node.chain.catchUp();
    return found(node, params ?? []);
  };
}

/** The response to one request; null for a notification (no id). */
async function answer(input: unknown, dispatch: Dispatch): Promise<Response | null> {
  const parsed = request.safeParse(input);
  if (!parsed.success) return { jsonrpc: '2.0', id: null, error: invalidRequest() };
  const { id } = parsed.data;
  if (id === undefined) return null;
  try {
    return { jsonrpc: '2.0', id, result: (await dispatch(parsed.data)) ?? null };
  } catch (error) {
    if (error instanceof RpcError) return { jsonrpc: '2.0', id, error };
    console.error(error);
    return { jsonrpc: '2.0', id, error: new RpcError(-32603, 'Internal error') };
  }
}

/** The response to a request or a batch; null: all were notifications. */
export async function answerText(text: string, dispatch: Dispatch): Promise<string | null> {
  let body: unknown;
  try {
    body = decode(text);
  } catch {
    // Not JSON.
    return encode({ jsonrpc: '2.0', id: null, error: parseError() });
  }
  if (!Array.isArray(body)) {
    const one = await answer(body, dispatch);
    return one && encode(one);
  }
  if (body.length === 0) return encode({ jsonrpc: '2.0', id: null, error: invalidRequest() });
  const answers: Response[] = [];
  for (const one of body) {
    const answered = await answer(one, dispatch);
    if (answered !== null) answers.push(answered);
  }
  return answers.length === 0 ? null : encode(answers);
}
