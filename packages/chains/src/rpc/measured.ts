import { count, inSpan, isRecording, recordDuration, SpanKind } from '@pf/runtime';
import { RpcUnreachedError } from './errors.ts';
import type { Answers, RpcCall, RpcNode } from './node.ts';

/** A node whose every request is measured, and in a span where somebody keeps the trace it belongs to. */
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

  batch<const Calls extends readonly RpcCall<unknown>[]>(calls: Calls): Promise<Answers<Calls>> {
    return this.#measured(calls, () => this.#node.batch(calls));
  }

  async #measured<Answer>(calls: readonly RpcCall<unknown>[], ask: () => Promise<Answer>): Promise<Answer> {
    const about = { network: this.#network, upstream: this.name };
    for (const { method } of calls) count('payments.rpc.calls', { ...about, 'rpc.method': method });
    const began = performance.now();
    let failure: unknown;
    try {
      return await (isRecording() ? this.#inSpan(calls, ask) : ask());
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      recordDuration('payments.rpc.request.duration', began, {
        ...about,
        ...(failure instanceof RpcUnreachedError && { 'error.type': failure.fault }),
      });
    }
  }

  #inSpan<Answer>(calls: readonly RpcCall<unknown>[], ask: () => Promise<Answer>): Promise<Answer> {
    const methods = [...new Set(calls.map(({ method }) => method))];
    const attributes = {
      'rpc.system.name': 'jsonrpc',
      'rpc.method': methods.join(','),
      'server.address': this.name,
      'payments.network': this.#network,
      ...(calls.length > 1 && { 'payments.rpc.calls': calls.length }),
    };
    return inSpan(methods.length === 1 ? (methods[0] ?? 'batch') : 'batch', null, ask, {
      kind: SpanKind.CLIENT,
      attributes,
    });
  }
}
