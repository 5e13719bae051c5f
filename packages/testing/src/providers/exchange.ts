import { z } from 'zod';
import type { Ask } from '../chains/rpc-lies.ts';

const rpcId = z.union([z.number(), z.string(), z.null()]);
const rpcCall = z.object({
  id: rpcId.default(null),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});
/** One JSON-RPC call of a client. */
export type Call = z.infer<typeof rpcCall>;
/** What a client posts: a call, or an array of some. */
export const posted = z.union([rpcCall, z.array(rpcCall).min(1)]);

const rpcError = z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() });
type RpcError = z.infer<typeof rpcError>;
/** What a node responds to one call. */
export const item = z.object({
  jsonrpc: z.literal('2.0').default('2.0'),
  id: rpcId.optional(),
  result: z.unknown().optional(),
  error: rpcError.optional(),
});
export type Item = z.infer<typeof item>;

/** What a client posted. */
export interface Request {
  /** One, unless it is an array. */
  readonly calls: readonly Call[];
  readonly isArray: boolean;
}

/** An HTTP response. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or bare text. */
  readonly body: Item | readonly Item[] | string;
}

export type Handler = (request: Request) => Promise<Reply>;

/** What behaviors have of the world. Nothing else decides what they do: a run with the same seed and clock repeats. */
export interface World {
  /** ms from any origin; never falls. */
  readonly now: () => number;
  /** Resolves when so many ms have passed. */
  readonly wait: (ms: number) => Promise<void>;
  /** From 0 to 1, repeated by the seed. */
  readonly random: () => number;
  /** Calls the node itself; undefined where it refuses. */
  readonly ask: Ask;
}

/** One way in which a provider differs from the node behind it. Called at each start; what it returns has state. */
export type Behavior = (world: World) => (request: Request, next: Handler) => Promise<Reply>;

/** How a provider says no. */
export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON-RPC error, or a text that is no JSON. */
  readonly error: RpcError | string;
}

/** The refusal of a whole request: of an array it is one object. */
export const refused = (request: Request, { status, headers = {}, error }: Refusal): Reply => ({
  status,
  headers,
  body:
    typeof error === 'string'
      ? error
      : { jsonrpc: '2.0', id: request.isArray ? null : (request.calls[0]?.id ?? null), error },
});

/** @returns the error of this code, in a response of this status */
export const refusal = (status: number, code: number, message: string, data?: unknown): Refusal => ({
  status,
  error: { code, message, ...(data !== undefined && { data }) },
});

/** Refuses whole requests. */
export const refusing =
  (judge: (world: World) => (request: Request) => Refusal | null): Behavior =>
  (world) => {
    const refusalOf = judge(world);
    return async (request, next) => {
      const found = refusalOf(request);
      return found === null ? next(request) : refused(request, found);
    };
  };

/** Responds to single calls itself. */
export type Answer = { readonly result: unknown } | Refusal;

/**
 * Responds to single calls instead of the node; null: the node responds. In an array a refusal is an item, and the
 * other calls go on.
 */
export const answering =
  (judge: (world: World) => (call: Call, request: Request) => Promise<Answer | null> | Answer | null): Behavior =>
  (world) => {
    const answerOf = judge(world);
    return async (request, next) => {
      const answers = new Map<Call, Answer>();
      for (const call of request.calls) {
        const answer = await answerOf(call, request);
        if (answer !== null) answers.set(call, answer);
      }
      if (answers.size === 0) return next(request);
      const [first] = request.calls;
      const alone = request.isArray || first === undefined ? undefined : answers.get(first);
      if (alone !== undefined && !('result' in alone)) return refused(request, alone);
      const rest = request.calls.filter((call) => !answers.has(call));
      const reply = rest.length === 0 ? null : await next({ ...request, calls: rest });
      if (reply !== null && !isList(reply.body)) return reply;
      const others = reply === null ? [] : [...(reply.body as readonly Item[])];
      const items = request.calls.flatMap((call) => {
        const answer = answers.get(call);
        return answer === undefined ? others.splice(0, 1) : [itemOf(call, answer)];
      });
      return json(request.isArray ? items : (items[0] ?? { jsonrpc: '2.0', id: null }));
    };
  };

/** Looks at the node's result of single calls, and may refuse them after all. */
export const revising =
  (judge: (call: Call, result: unknown) => Refusal | null): Behavior =>
  () =>
  async (request, next) => {
    const reply = await next(request);
    if (typeof reply.body === 'string') return reply;
    const revised = [reply.body].flat().map((one, index) => {
      const call = request.calls[index];
      const found = call === undefined || one.error !== undefined ? null : judge(call, one.result);
      return { one, call, found };
    });
    const alone = request.isArray ? null : revised[0]?.found;
    if (alone) return refused(request, alone);
    const items = revised.map(({ one, call, found }) => (call && found ? itemOf(call, found) : one));
    return { ...reply, body: isList(reply.body) ? items : (items[0] ?? reply.body) };
  };

/** Changes calls on their way to the node. */
export const rewriting =
  (rewrite: (call: Call) => Call): Behavior =>
  () =>
  (request, next) =>
    next({ ...request, calls: request.calls.map(rewrite) });

export const json = (body: Item | readonly Item[]): Reply => ({ status: 200, headers: {}, body });
const isList = (body: Reply['body']): body is readonly Item[] => Array.isArray(body);

const itemOf = ({ id }: Call, answer: Answer): Item =>
  'result' in answer
    ? { jsonrpc: '2.0', id, result: answer.result }
    : {
        jsonrpc: '2.0',
        id,
        error: typeof answer.error === 'string' ? { code: answer.status, message: answer.error } : answer.error,
      };
