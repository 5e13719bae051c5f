import { count, inSpan, isRecordingSpan, recordDuration, resumed, SpanKind } from '@pf/runtime';
import { type RpcFault, RpcUpstreamError } from './errors.ts';

/** Where a request goes: labels of its metrics. */
export interface Destination {
  readonly network: string;
  /** The upstream's host. */
  readonly upstream: string;
}

/** What a request brought, and what was wrong with a part of it. */
export interface Exchange<T> {
  readonly result: T;
  readonly fault: RpcFault | null;
}

/**
 * Measures one HTTP request with these calls; gives it a span where its trace is recorded.
 * @param credits what the calls cost in all
 * @param isSoon it was waited for a moment only: that nothing came in that time is no failure of the upstream
 */
export async function measured<T>(
  to: Destination,
  methods: readonly string[],
  credits: number,
  isSoon: boolean,
  request: () => Promise<Exchange<T>>,
): Promise<T> {
  const labels = { network: to.network, upstream: to.upstream };
  for (const method of methods) count('payments.rpc.calls', { ...labels, 'rpc.method': method });
  if (credits > 0) count('payments.rpc.credits', labels, credits);
  const startedAt = performance.now();
  let fault: RpcFault | null = null;
  try {
    const exchange = await (isRecordingSpan() ? spanned(to, methods, request) : request());
    fault = exchange.fault;
    return exchange.result;
  } catch (error) {
    if (error instanceof RpcUpstreamError) fault = error.fault;
    throw error;
  } finally {
    resumed();
    const type = isSoon && fault === 'timeout' ? 'late' : fault;
    recordDuration('payments.rpc.request.duration', startedAt, {
      ...labels,
      ...(type !== null && { 'error.type': type }),
    });
  }
}

function spanned<T>(to: Destination, calls: readonly string[], request: () => Promise<T>): Promise<T> {
  const methods = [...new Set(calls)];
  const attributes = {
    'rpc.system.name': 'jsonrpc',
    'rpc.method': methods.join(','),
    'server.address': to.upstream,
    'payments.network': to.network,
    ...(calls.length > 1 && { 'payments.rpc.calls': calls.length }),
  };
  return inSpan(methods.length === 1 ? (methods[0] ?? 'batch') : 'batch', null, request, {
    kind: SpanKind.CLIENT,
    attributes,
  });
}
