import type { OPERATIONS } from '@pf/contracts';
import type { DASHBOARD_OPERATIONS } from '@pf/contracts/dashboard';
import type { z } from 'zod';
import { ApiError, unreachable } from './error.ts';
import { queryString } from './query-string.ts';

export type Mode = 'test' | 'live';
/** An account in one of its modes. */
export interface Place {
  readonly accountId: string;
  readonly mode: Mode;
}

type Own = (typeof DASHBOARD_OPERATIONS)[keyof typeof DASHBOARD_OPERATIONS];
type Public = (typeof OPERATIONS)[keyof typeof OPERATIONS];
type At<Operation, Method, Path> = Extract<Operation, { readonly method: Method; readonly path: Path }>;
type PathsOf<Operation, Method> = Extract<Operation, { readonly method: Method; readonly path: string }>['path'];

/** `'/accounts/{accountId}/keys/{keyId}'` has the parameters `accountId` and `keyId`. */
type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type Params<Path> = [NamesIn<Path>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<NamesIn<Path>, string>> };
type Body<Container> = Container extends { readonly body: infer Schema extends z.ZodType }
  ? { readonly body: z.input<Schema> }
  : { readonly body?: undefined };
type Query<Container> = Container extends { readonly query: infer Schema extends z.ZodType }
  ? { readonly query?: z.input<Schema> }
  : { readonly query?: undefined };
interface Common {
  readonly signal?: AbortSignal;
}
/** Left out where nothing in it is required. */
type Rest<Options> = Record<never, never> extends Options ? [options?: Options] : [options: Options];

type OwnOptions<Operation, Path> = Common & Params<Path> & Body<Operation> & Query<Operation>;
type OwnResult<Operation> = Operation extends { readonly response: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : never;

type RequestOf<Operation> = Operation extends { readonly request: infer Request } ? Request : never;
type PublicOptions<Operation, Path> = Common & Params<Path> & Body<RequestOf<Operation>> & Query<RequestOf<Operation>>;
type JsonOf<Success> = Success extends {
  readonly content: { readonly 'application/json': infer Schema extends z.ZodType };
}
  ? z.output<Schema>
  : never;
export type PublicResult<Operation> = Operation extends { readonly responses: infer Responses }
  ? JsonOf<Responses[keyof Responses]>
  : never;

/** Calls an operation of the dashboard's API. @throws ApiError */
export async function dashboard<Method extends Own['method'], Path extends PathsOf<Own, Method>>(
  method: Method,
  path: Path,
  ...[options]: Rest<OwnOptions<At<Own, Method, Path>, Path>>
): Promise<OwnResult<At<Own, Method, Path>>> {
  return (await send(method, `/api${path}`, options)) as OwnResult<At<Own, Method, Path>>;
}

/** The payment API of an account and mode, which the dashboard forwards to. */
export const payments =
  ({ accountId, mode }: Place) =>
  /** Calls an operation of the payment API. @throws ApiError */
  async <Method extends Public['method'], Path extends PathsOf<Public, Method>>(
    method: Method,
    path: Path,
    ...[options]: Rest<PublicOptions<At<Public, Method, Path>, Path>>
  ): Promise<PublicResult<At<Public, Method, Path>>> =>
    (await send(method, `/api/accounts/${encodeURIComponent(accountId)}/${mode}/v1${path}`, options)) as PublicResult<
      At<Public, Method, Path>
    >;

interface AnyOptions extends Common {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: unknown;
  readonly body?: unknown;
}

async function send(method: string, path: string, options: AnyOptions = {}): Promise<unknown> {
  const { params = {}, query, body, signal } = options;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => encodeURIComponent(params[name] ?? ''));
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${filled}${queryString(query ?? {})}`, {
      method: method.toUpperCase(),
      headers: { Accept: 'application/json', ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    text = await response.text();
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw unreachable(cause);
  }
  if (!response.ok) throw ApiError.of(response.status, text);
  return JSON.parse(text);
}
