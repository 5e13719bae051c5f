import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { DEVNET_GENESIS, tokens, wallets } from '@pf/local-solana';
import { z } from 'zod';
import { type NodeRpc, nodeRpc } from './node-rpc.ts';
import type { StackChain } from '../stack/stack.ts';

const place = z.object({
  processed: z.number(),
  confirmed: z.number(),
  finalized: z.number(),
  blockHeight: z.number(),
});
/** The chain's slots by commitment, and its block height. */
export type SolanaPlace = z.infer<typeof place>;

export interface SolanaOptions {
  /** ms per slot; absent: the clock is paused, and slots come only from `advance`. */
  readonly slotMs?: number;
  /** Slots until a slot is final. Default 4. */
  readonly finalitySlots?: number;
  /** A folder for a ledger that survives the process; absent: in memory. */
  readonly ledger?: string;
}

/** Which transactions a fault is for; `count` is 1 by default, and unlimited with a payer. */
export interface SolanaTarget {
  readonly payer?: string;
  readonly signature?: string;
  readonly count?: number;
}

/**
 * A Solana chain that belongs to one test. Transactions land in the open slot: processed at once, confirmed with the
 * next slot.
 */
export interface LocalSolana extends StackChain {
  readonly rpc: NodeRpc;
  /** Advances by this many slots (default 1). */
  advance(slots?: number): Promise<SolanaPlace>;
  /** Finalizes everything so far. */
  finalize(): Promise<SolanaPlace>;
  /** Advances by 151 slots and finalizes them: every blockhash so far has expired. */
  expire(): Promise<SolanaPlace>;
  pause(): Promise<SolanaPlace>;
  resume(): Promise<SolanaPlace>;
  /** Accepts the transactions with their signature and drops them, also when they are sent again. */
  drop(target?: SolanaTarget): Promise<void>;
  /** The transactions pass the simulation, land, cost their fee and fail. */
  fail(target?: SolanaTarget): Promise<void>;
  /** The transactions land this many slots later. */
  delay(slots: number, target?: SolanaTarget): Promise<void>;
  /** Ends all faults. */
  heal(): Promise<void>;
  /** The node reports that it is this many slots behind, and refuses to send; 0: it has caught up. */
  fallBehind(slots: number): Promise<void>;
  /** Rolls back the newest slots that are not final; returns their signatures. `requeue`: they land again. */
  reorg(slots: number, options?: { readonly requeue: boolean }): Promise<string[]>;
  /** Mints base units of a token to an owner, whose account is created if it is missing; returns the signature. */
  mint(owner: string, token: string, amount: bigint): Promise<string>;
  /** Sends lamports to an address; returns the signature. */
  airdrop(to: string, lamports: bigint): Promise<string>;
  /** Kills it, like kill -9. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Resolves with its URL when it listens, on a port of its choice. */
async function listening(child: ChildProcess): Promise<string> {
  let output = '';
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const [, address] = /Listening on (\S+)/.exec(output) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error(`the local Solana ended before it listened: ${output}`);
}

export async function startSolana({ slotMs, finalitySlots = 4, ledger }: SolanaOptions = {}): Promise<LocalSolana> {
  const main = fileURLToPath(new URL('../../../local-solana/src/main.ts', import.meta.url));
  const clock = slotMs === undefined ? ['--paused'] : ['--slot-ms', String(slotMs)];
  const child = spawn(
    process.execPath,
    [
      main,
      '--port',
      '0',
      '--finality-slots',
      String(finalitySlots),
      ...clock,
      ...(ledger === undefined ? [] : ['--ledger', ledger]),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const rpcUrl = await listening(child);
  child.stdout?.resume();

  const rpc = nodeRpc(rpcUrl);
  const move = async (control: string, ...params: unknown[]): Promise<SolanaPlace> =>
    place.parse(await rpc(control, ...params));
  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    process.removeListener('exit', kill);
    await ended;
  }
  return {
    caip2: `solana:${DEVNET_GENESIS.slice(0, 32)}`,
    rpcUrl,
    tokens: { ...tokens },
    wallets: [...wallets],
    rpc,
    advance: (slots = 1) => move('local_advance', slots),
    finalize: () => move('local_finalize'),
    expire: () => move('local_expire'),
    pause: () => move('local_pause'),
    resume: () => move('local_resume'),
    drop: (target = {}) => rpc('local_drop', target),
    fail: (target = {}) => rpc('local_fail', target),
    delay: (slots, target = {}) => rpc('local_delay', slots, target),
    heal: () => rpc('local_heal'),
    fallBehind: (slots) => rpc('local_behind', slots),
    reorg: (slots, options = { requeue: false }) => rpc('local_reorg', slots, options),
    mint: (owner, token, amount) => rpc('local_mint', owner, token, String(amount)),
    airdrop: (to, lamports) => rpc('requestAirdrop', to, String(lamports)),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}
