import type { RpcCall, RpcNode } from '@pf/rpc';

/** A node that responds so to each call, alone and in a batch. */
export const respondingNode = (respond: (call: RpcCall<unknown>) => unknown, name = 'node'): RpcNode => ({
  name,
  plan: {},
  callsIn: () => Number.POSITIVE_INFINITY,
  call: async (call) => respond(call) as never,
  batch: async (calls) => calls.map(respond) as never,
});
