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
/** Slots of the chain by commitment, and the block height of the newest. */
export type SolanaPlace = z.infer<typeof place>;

export interface SolanaOptions {
  /** Milliseconds of a slot, by which the clock runs; absent: it stands still, and slots come by `advance`. */
  readonly slotMs?: number;
  /** A slot is final once so many have followed. Default 4. */
  readonly finalitySlots?: number;
  /** Folder of a ledger that outlives the process; absent: in memory. */
  readonly ledger?: string;
}

/** Which transactions a fault is for; `count` is one by default, without end where a payer is named. */
export interface SolanaTarget {
  readonly payer?: string;
  readonly signature?: string;
  readonly count?: number;
}

/**
 * A Solana chain of a test's own. What is sent lands in the slot that is open: processed at once, confirmed with the
 * next slot.
 */
export interface LocalSolana extends StackChain {
  readonly rpc: NodeRpc;
  /** So many slots (default 1) pass. */
  advance(slots?: number): Promise<SolanaPlace>;
  /** Everything so far is final. */
  finalize(): Promise<SolanaPlace>;
  /** 151 slots pass and are final: every blockhash so far is dead. */
  expire(): Promise<SolanaPlace>;
  pause(): Promise<SolanaPlace>;
  resume(): Promise<SolanaPlace>;
  /** The transactions are answered with their signature, and forgotten, however often they come. */
  drop(target?: SolanaTarget): Promise<void>;
  /** The transactions pass the simulation, land, cost their fee, and have failed. */
  fail(target?: SolanaTarget): Promise<void>;
  /** The transactions land so many slots later. */
  delay(slots: number, target?: SolanaTarget): Promise<void>;
  /** Ends all faults. */
  heal(): Promise<void>;
  /** The node says that it is so many slots behind, and refuses to send; 0: it has caught up. */
  fallBehind(slots: number): Promise<void>;
  /** The newest slots, not final yet, never were. The signatures of what was in them; `requeue`: it lands again. */
  reorg(slots: number, options?: { readonly requeue: boolean }): Promise<string[]>;
  /** Base units of a token to an owner, whose account is created where it is missing; the signature. */
  mint(owner: string, token: string, amount: bigint): Promise<string>;
  /** Lamports to an address; the signature. */
  airdrop(to: string, lamports: bigint): Promise<string>;
  /** Ends it at once, as kill -9 does. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** The URL where it listens, on a port of its own choice, once it does. */
async function listening(child: ChildProcess): Promise<string> {
  let said = '';
  for await (const chunk of child.stdout ?? []) {
    said += String(chunk);
    const [, address] = /Listening on (\S+)/.exec(said) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error(`the local Solana ended before it listened: ${said}`);
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
