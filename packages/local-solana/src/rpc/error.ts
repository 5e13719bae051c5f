import type { z } from 'zod';

/** A JSON-RPC error, with the codes and texts of Agave's RPC service. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
  toJSON(): { code: number; message: string; data?: unknown } {
    return { code: this.code, message: this.message, ...(this.data !== undefined && { data: this.data }) };
  }
}

export const parseError = (): RpcError => new RpcError(-32700, 'Parse error');
export const invalidRequest = (): RpcError => new RpcError(-32600, 'Invalid request');
export const methodNotFound = (): RpcError => new RpcError(-32601, 'Method not found');
export const invalidParams = (message: string): RpcError => new RpcError(-32602, message);
export const blockNotAvailable = (slot: number): RpcError =>
  new RpcError(-32004, `Block not available for slot ${slot}`);
export const preflightFailure = (text: string, data: unknown): RpcError =>
  new RpcError(-32002, `Transaction simulation failed: ${text}`, data);
export const badSignature = (): RpcError => new RpcError(-32003, 'Transaction signature verification failure');
export const unhealthy = (slotsBehind: number): RpcError =>
  new RpcError(-32005, `Node is behind by ${slotsBehind} slots`, { numSlotsBehind: slotsBehind });
export const slotSkipped = (slot: number): RpcError =>
  new RpcError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
export const unsupportedVersion = (version: number): RpcError =>
  new RpcError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again ` +
      `with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );
export const minContextSlotNotReached = (contextSlot: number): RpcError =>
  new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot });

/** zod's issues on one line, by parameter. */
export function explain({ issues }: z.ZodError): string {
  const [first] = issues;
  const place = first?.path.length ? ` at ${first.path.map(String).join('.')}` : '';
  return `${first?.message ?? 'not understood'}${place}`;
}
