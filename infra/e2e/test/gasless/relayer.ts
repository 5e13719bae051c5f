import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { RelayedCall } from '@pf/contracts';
import type { StackChain, StackWallet } from '@pf/testing';
import type { Hex } from 'viem';

/** How a relayer treats a call. */
export type Way = 'honest' | 'redirects' | 'takes-more' | 'refuses' | 'lies' | 'stalls' | 'wakes-up';

/** What it says: a hash where it says that it has sent something. */
export interface Said {
  readonly status: number;
  readonly hash: Hex | undefined;
}

/** A process of an integrator, which pays the gas with its own key. */
export class Relayer {
  readonly #process: ChildProcess;
  readonly #url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#process = child;
    this.#url = url;
  }

  static async start({ rpcUrl, caip2 }: StackChain, { privateKey }: StackWallet): Promise<Relayer> {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, 'relayer-process.ts')], {
      env: { ...process.env, RPC_URL: rpcUrl, CHAIN_ID: caip2.slice('eip155:'.length), PRIVATE_KEY: privateKey },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
    return new Relayer(child, `http://127.0.0.1:${port}`);
  }

  async relay(way: Way, call?: RelayedCall): Promise<Said> {
    const response = await fetch(`${this.#url}/${way}`, { method: 'POST', body: JSON.stringify(call ?? {}) });
    const { hash } = (await response.json()) as { readonly hash?: Hex };
    return { status: response.status, hash };
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.kill();
    await once(this.#process, 'exit');
  }
}
