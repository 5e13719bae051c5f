import type { UpstreamSettings } from '@pf/rpc';
import type { ChainFamily, Network } from './networks.ts';

const EVM = {
  eth_getLogs: 'payments are found by it',
  eth_getTransactionReceipt: 'it tells whether a payment succeeded',
  eth_getBlockByNumber: 'it tells how far the chain has come',
  eth_call: 'payments are verified by it',
  eth_sendRawTransaction: 'payments are broadcast by it',
};
/** The methods that some upstream of a network must have, and what for. */
const METHODS: Readonly<Record<ChainFamily, Readonly<Record<string, string>>>> = {
  base: EVM,
  tempo: EVM,
  solana: {
    getSignaturesForAddress: 'payments are found by it',
    getTransaction: 'it tells what a transaction pays',
    getSignatureStatuses: 'it tells whether a payment succeeded',
    getMultipleAccounts: 'it tells which accounts have moved',
    simulateTransaction: 'payments are verified by it',
    sendTransaction: 'payments are broadcast by it',
  },
};
const OF_EVM_STEP = ['eth_getLogs', 'eth_getTransactionReceipt', 'eth_getBlockByNumber'];
/** Those that one and the same upstream must have: a step of a watcher takes all its results from one. */
const OF_A_STEP: Readonly<Record<ChainFamily, readonly string[]>> = {
  base: OF_EVM_STEP,
  tempo: OF_EVM_STEP,
  solana: ['getSignaturesForAddress', 'getTransaction', 'getSignatureStatuses', 'getMultipleAccounts'],
};
/** Calls a second of a watcher of 100 recipients while nothing happens, rounded up (docs/operations/providers.md). */
const WATCHING: Readonly<Record<ChainFamily, number>> = { base: 5, tempo: 4, solana: 3 };

type Named = Pick<Network, 'name' | 'family'>;

/** Why a network cannot be served over these upstreams, by their plans; null where it can. */
export function whyNotServed({ name, family }: Named, upstreams: readonly UpstreamSettings[]): string | null {
  const isLacked = (method: string): boolean => upstreams.every(({ plan }) => plan.unsupported?.includes(method));
  const lacked = Object.entries(METHODS[family]).find(([method]) => isLacked(method));
  if (lacked !== undefined) {
    const [method, purpose] = lacked;
    return (
      `${name}: no upstream has ${method}, and ${purpose}: add one whose plan has it ` +
      '(docs/operations/providers.md)'
    );
  }
  const together = OF_A_STEP[family];
  if (upstreams.some(({ plan }) => !together.some((method) => plan.unsupported?.includes(method)))) return null;
  return (
    `${name}: no upstream has all of ${together.join(', ')}, which a step of the watcher asks of one: add one whose ` +
    'plan has them (docs/operations/providers.md)'
  );
}

/** What the plan of a network's only upstream will not be enough for. */
export function concernsOf(
  { family }: Pick<Network, 'family'>,
  upstreams: readonly (string | UpstreamSettings)[],
): readonly string[] {
  const [only, ...others] = upstreams;
  if (only === undefined || typeof only === 'string' || others.length > 0) return [];
  const { historyBlocks, callsPerSecond = Number.POSITIVE_INFINITY } = only.plan;
  return [
    ...(historyBlocks === undefined
      ? []
      : [`the only upstream has the logs of ${historyBlocks} blocks: a watcher that stops for longer needs another`]),
    ...(callsPerSecond >= WATCHING[family]
      ? []
      : [
          `the only upstream allows ${Number(callsPerSecond.toFixed(2))} calls a second, and watching needs ` +
            `${WATCHING[family]}: payments are found late`,
        ]),
  ];
}
