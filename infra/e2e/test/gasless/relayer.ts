import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { RelayedCall, X402Settlement } from '@pf/contracts';
import type { StackChain, StackWallet } from '@pf/testing';
import type { PaidVersion } from '@pf/testing/wallets';
import type { Hex } from 'viem';

/** What a sponsor says: a hash where it says that it has sent something, or what its JSON-RPC returns. */
interface Said<Result> {
  readonly status: number;
  readonly hash?: Hex;
  readonly transaction?: Hex;
  /** Of a facilitator. */
  readonly isValid?: boolean;
  readonly payer?: string;
  readonly success?: boolean;
  /** Of a JSON-RPC. */
  readonly result?: Result;
}

/** A process of an integrator, which pays for gas with its own key. It treats a request as its path says. */
class Sponsor<Way extends string, Request extends object, Result = undefined> {
  readonly #process: ChildProcess;
  readonly #url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#process = child;
    this.#url = url;
  }

  /** @param file a program beside this one */
  static async start<Way extends string, Request extends object, Result>(
    file: string,
    env: Readonly<Record<string, string>>,
  ): Promise<Sponsor<Way, Request, Result>> {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, file)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
    return new Sponsor(child, `http://127.0.0.1:${port}`);
  }

  /** Where it treats requests in this way. */
  at(way: Way): string {
    return `${this.#url}/${way}`;
  }

  async ask(way: Way, request?: Request): Promise<Said<Result>> {
    const response = await fetch(this.at(way), { method: 'POST', body: JSON.stringify(request ?? {}) });
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

export type Facilitator = Sponsor<'verify' | 'settle' | 'lies/settle', X402Settlement>;
/** Verifies and settles by x402 on Base. */
export const startFacilitator = ({ rpcUrl, caip2 }: StackChain, { privateKey }: StackWallet): Promise<Facilitator> =>
  Sponsor.start('facilitator-process.ts', {
    RPC_URL: rpcUrl,
    CHAIN_ID: caip2.slice('eip155:'.length),
    PRIVATE_KEY: privateKey,
  });

export type FeePayerWay =
  'relay' | 'honest' | 'alters' | 'refuses' | 'lies' | 'hangs' | 'stalls' | 'wakes-up' | 'sends-and-says-it-refused';
export interface FeePayerRequest {
  readonly method: 'eth_signRawTransaction';
  readonly params: readonly [Hex];
}
export type FeePayer = Sponsor<FeePayerWay, FeePayerRequest, Hex>;
/** Signs for fees on Tempo. */
export const startFeePayer = ({ rpcUrl, tokens }: StackChain, { privateKey }: StackWallet): Promise<FeePayer> =>
  Sponsor.start('fee-payer-process.ts', {
    RPC_URL: rpcUrl,
    PRIVATE_KEY: privateKey,
    FEE_TOKEN: tokens['AlphaUSD'] ?? '',
  });

export type KoraWay =
  | 'honest'
  | 'asks-for-a-key'
  | 'names-nonsense'
  | 'alters'
  | 'redirects'
  | 'signs-wrongly'
  | 'refuses'
  | 'fails'
  | 'lies'
  | 'hangs'
  | 'stalls'
  | 'wakes-up'
  | 'sends-and-says-it-refused'
  | 'asked';
export interface KoraRequest {
  readonly method: 'getPayerSigner' | 'signTransaction';
  readonly params?: { readonly transaction: string; readonly signer_key: string };
}
interface KoraResult {
  readonly signer_address?: string;
  readonly signed_transaction?: string;
  readonly asked?: number;
}
export type Kora = Sponsor<KoraWay, KoraRequest, KoraResult>;
/** Signs for fees on Solana. */
export const startKora = ({ rpcUrl }: StackChain, { privateKey }: StackWallet): Promise<Kora> =>
  Sponsor.start('kora-process.ts', { PRIVATE_KEY: privateKey, RPC_URL: rpcUrl });

export type PaymasterWay = 'honest' | 'by-policy' | 'refuses' | 'lies' | 'hangs' | 'asked';
export interface PaymasterRequest {
  readonly method: 'pm_getPaymasterStubData' | 'pm_getPaymasterData';
  readonly params: readonly [
    operation: Readonly<Record<string, Hex>>,
    entryPoint: string,
    chainId: Hex,
    context: { readonly policyId?: string },
  ];
}
export type Paymaster = Sponsor<PaymasterWay, PaymasterRequest, number>;
/**
 * Pays the gas of smart accounts on Base.
 * @param contracts the paymaster of each version of the EntryPoint, which takes the wallet's signature
 */
export const startPaymaster = (
  { rpcUrl }: Pick<StackChain, 'rpcUrl'>,
  { privateKey }: StackWallet,
  contracts: Readonly<Partial<Record<PaidVersion, string>>>,
): Promise<Paymaster> =>
  Sponsor.start('paymaster-process.ts', {
    RPC_URL: rpcUrl,
    PRIVATE_KEY: privateKey,
    PAYMASTERS: JSON.stringify(contracts),
  });
