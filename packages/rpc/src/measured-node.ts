import { count, inSpan, isRecordingSpan, recordDuration, SpanKind } from '@pf/runtime';
import { RpcUpstreamError } from './errors.ts';
import type { Results, RpcCall, RpcNode } from './node.ts';

/** A node whose every request is measured, and has a span where its trace is recorded. */
export class MeasuredNode implements RpcNode {
  readonly #node: RpcNode;
  readonly #network: string;

  /** @param network its name */
  constructor(node: RpcNode, network: string) {
    this.#node = node;
    this.#network = network;
  }

  get name(): string {
    return this.#node.name;
  }

  call<T>(call: RpcCall<T>): Promise<T> {
    return this.#measured([call], () => this.#node.call(call));
  }

  batch<const Calls extends readonly RpcCall<unknown>[]>(calls: Calls): Promise<Results<Calls>> {
    return this.#measured(calls, () => this.#node.batch(calls));
  }

  async #measured<Result>(calls: readonly RpcCall<unknown>[], request: () => Promise<Result>): Promise<Result> {
    const labels = { network: this.#network, upstream: this.name };
    for (const { method } of calls) count('payments.rpc.calls', { ...labels, 'rpc.method': method });
    const startedAt = performance.now();
    let failure: unknown;
    try {
      return await (isRecordingSpan() ? this.#inSpan(calls, request) : request());
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      recordDuration('payments.rpc.request.duration', startedAt, {
        ...labels,
        ...(failure instanceof RpcUpstreamError && { 'error.type': failure.fault }),
      });
    }
  }

  #inSpan<Result>(calls: readonly RpcCall<unknown>[], request: () => Promise<Result>): Promise<Result> {
    const methods = [...new Set(calls.map(({ method }) => method))];
    const attributes = {
      'rpc.system.name': 'jsonrpc',
      'rpc.method': methods.join(','),
      'server.address': this.name,
      'payments.network': this.#network,
      ...(calls.length > 1 && { 'payments.rpc.calls': calls.length }),
    };
    return inSpan(methods.length === 1 ? (methods[0] ?? 'batch') : 'batch', null, request, {
      kind: SpanKind.CLIENT,
      attributes,
    });
  }
}
