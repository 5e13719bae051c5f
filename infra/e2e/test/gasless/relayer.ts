import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { RelayedCall } from '@pf/contracts';
import type { StackChain, StackWallet } from '@pf/testing';
import type { Hex } from 'viem';

/** What a sponsor says: a hash where it says that it has sent something, or a transaction that it has signed. */
interface Said {
  readonly status: number;
  readonly hash?: Hex;
  readonly transaction?: Hex;
}

/** A process of an integrator, which pays for gas with its own key. It treats a request as its path says. */
class Sponsor<Way extends string, Request extends object> {
  readonly #process: ChildProcess;
  readonly #url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#process = child;
    this.#url = url;
  }

  /** @param file a program beside this one */
  static async start<Way extends string, Request extends object>(
    file: string,
    env: Readonly<Record<string, string>>,
  ): Promise<Sponsor<Way, Request>> {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, file)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
    return new Sponsor(child, `http://127.0.0.1:${port}`);
  }

  async ask(way: Way, request?: Request): Promise<Said> {
    const response = await fetch(`${this.#url}/${way}`, { method: 'POST', body: JSON.stringify(request ?? {}) });
    return { ...((await response.json()) as object), status: response.status };
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.kill();
    await once(this.#process, 'exit');
  }
}

type RelayerWay = 'honest' | 'redirects' | 'takes-more' | 'refuses' | 'lies' | 'stalls' | 'wakes-up';
export type Relayer = Sponsor<RelayerWay, RelayedCall>;
/** Sends calls on Base. */
export const startRelayer = ({ rpcUrl, caip2 }: StackChain, { privateKey }: StackWallet): Promise<Relayer> =>
  Sponsor.start('relayer-process.ts', {
    RPC_URL: rpcUrl,
    CHAIN_ID: caip2.slice('eip155:'.length),
    PRIVATE_KEY: privateKey,
  });

type FeePayerWay = 'honest' | 'alters' | 'refuses' | 'lies' | 'stalls' | 'wakes-up';
export type FeePayer = Sponsor<FeePayerWay, { readonly transaction: Hex }>;
/** Signs for fees on Tempo. */
export const startFeePayer = ({ tokens }: StackChain, { privateKey }: StackWallet): Promise<FeePayer> =>
  Sponsor.start('fee-payer-process.ts', { PRIVATE_KEY: privateKey, FEE_TOKEN: tokens['AlphaUSD'] ?? '' });
