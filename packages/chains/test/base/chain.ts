import type { Address, ChainId, PaymentTerms, TransactionHash } from '@pf/domain';
import { RpcPool, type UpstreamSettings } from '@pf/rpc';
import { createLogger } from '@pf/runtime';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { evmWallet } from '@pf/testing/wallets';
import { Transaction } from 'ethers/transaction';
import { Wallet } from 'ethers/wallet';
import { concat, type Hex, hexToBytes, parseTransaction, type TransactionSerializableEIP1559 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { BaseAdapter } from '../../src/base/adapter.ts';
import { BaseObserver } from '../../src/base/observer.ts';
import { getHeadNumber, identifyChain } from '../../src/evm/calls.ts';
import { networkOf } from '../../src/index.ts';
import type { ChainUnderTest, PayerWallet } from '../conformance/suite.ts';

export const log = createLogger('test', 'silent');
const CHAIN = 'eip155:84532' as ChainId;

/** A pool over these upstreams, which may be slow on a busy machine. */
export const poolOver = (urls: readonly (string | UpstreamSettings)[], timeoutMs = 10_000): RpcPool =>
  new RpcPool({
    network: 'base-sepolia',
    upstreams: urls,
    dialect: 'evm',
    identify: identifyChain(CHAIN),
    probe: getHeadNumber(),
    log,
    timeoutMs,
  });

/** A clock that the test moves. */
export class Clock {
  #now = Date.now();
  readonly now = (): number => this.#now;
  pass(ms: number): void {
    this.#now += ms;
  }
}

type Change = (transaction: TransactionSerializableEIP1559) => TransactionSerializableEIP1559;
export interface EvmPayer extends PayerWallet {
  readonly privateKey: Hex;
  sign(blob: string, change?: Change): Promise<string>;
}

export interface BaseUnderTest extends ChainUnderTest {
  readonly anvil: Anvil;
  readonly pool: RpcPool;
  readonly clock: Clock;
  readonly adapter: BaseAdapter;
  readonly payers: readonly EvmPayer[];
}

const hexOf = (base64: string): Hex => `0x${Buffer.from(base64, 'base64').toString('hex')}`;
const base64Of = (hex: Hex): string => Buffer.from(hexToBytes(hex)).toString('base64');
let recipients = 0;

/** Base on an anvil of one's own; wallets are viem's. */
export const startBase = async (): Promise<BaseUnderTest> => baseOn(await startAnvil());

/** @param url where the service reaches this anvil */
export async function baseOn(anvil: Anvil, url = anvil.rpcUrl): Promise<BaseUnderTest> {
  const pool = poolOver([url]);
  const network = networkOf(CHAIN);
  const clock = new Clock();
  const usdc = anvil.tokens['USDC'] as Address;
  const payers = anvil.wallets.map(({ address, privateKey }): EvmPayer => {
    const wallet = evmWallet(anvil, { address, privateKey });
    const withEthers = async (blob: string): Promise<string> => {
      const transaction = Transaction.from(hexOf(blob));
      transaction.signature = new Wallet(privateKey).signingKey.sign(transaction.unsignedHash);
      return base64Of(transaction.serialized as Hex);
    };
    return {
      address: address as Address,
      privateKey: privateKey as Hex,
      sign: (blob, change) => wallet.sign(blob, change),
      signers: { viem: (blob) => wallet.sign(blob), ethers: withEthers },
    };
  });
  const first = anvil.wallets[0];
  if (first === undefined) throw new Error('anvil has wallets');
  const { client } = evmWallet(anvil, first);
  const transfer = {
    type: 'function',
    name: 'balanceOf',
    stateMutability: 'view',
    inputs: [{ name: 'account', type: 'address' }],
    outputs: [{ name: '', type: 'uint256' }],
  } as const;
  await anvil.mine(2);
  return {
    anvil,
    pool,
    clock,
    adapter: new BaseAdapter(network, pool),
    observer: new BaseObserver(network, pool, clock.now),
    payers,
    newRecipient: () => {
      recipients += 1;
      return `0x${'11'.repeat(16)}${recipients.toString().padStart(8, '0')}` as Address;
    },
    balanceOf: (address) =>
      client.readContract({
        address: usdc as Hex,
        abi: [transfer],
        functionName: 'balanceOf',
        args: [address as string as Hex],
      }),
    now: clock.now,
    land: () => anvil.mine(),
    settle: async () => {
      await anvil.mine();
      clock.pass(2_000);
    },
    finalize: async () => {
      await anvil.mine(10);
      clock.pass(2_000);
    },
    expire: () => Promise.reject(new Error('on Base nothing expires by itself')),
    spoil: (payer) => anvil.asTokenOwner(usdc, 'blacklist', [payer.address]),
    kill: async (signed, payer) => {
      const account = privateKeyToAccount((payer as EvmPayer).privateKey);
      const { nonce } = parseTransaction(`0x${Buffer.from(signed.raw).toString('hex')}`);
      const raw = await account.signTransaction({
        type: 'eip1559',
        chainId: 84_532,
        nonce: nonce ?? 0,
        to: account.address,
        value: 0n,
        gas: 21_000n,
        maxFeePerGas: 10n ** 11n,
        maxPriorityFeePerGas: 10n ** 10n,
      });
      await anvil.rpc<TransactionHash>('eth_sendRawTransaction', raw);
      await anvil.mine();
    },
    async *tampered(blob, payer, terms) {
      for (const [what, change] of tamperings(terms, anvil)) yield [what, await (payer as EvmPayer).sign(blob, change)];
      // Bytes behind the end of a good transaction.
      yield ['trailing bytes', base64Of(concat([hexOf(await payer.sign(blob)), '0x00']))];
    },
    stop: async () => {
      await pool.close();
      await anvil.stop();
    },
  };
}

const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const callOf = (to: string, amount: bigint, rest: string): Hex =>
  `0xa9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${word(amount)}${rest}`;

/** Every field that carries meaning, changed one at a time; the name is the difference that verify must tell. */
function tamperings(
  { requestor, amount, reference }: PaymentTerms,
  { tokens }: Pick<Anvil, 'tokens'>,
): readonly (readonly [string, Change])[] {
  const mark = reference.slice(2);
  const thief = `0x${'66'.repeat(20)}`;
  const withData =
    (data: Hex): Change =>
    (transaction) => ({ ...transaction, data });
  const otherEnd = mark.endsWith('00') ? '01' : '00';
  return [
    ['chain', (transaction) => ({ ...transaction, chainId: 8453 })],
    ['token', (transaction) => ({ ...transaction, to: tokens['EURC'] as Hex })],
    ['value', (transaction) => ({ ...transaction, value: 1n })],
    ['recipient', withData(callOf(thief, amount, mark))],
    ['amount', withData(callOf(requestor, amount - 1n, mark))],
    ['amount', withData(callOf(requestor, amount + 1n, mark))],
    ['reference', withData(callOf(requestor, amount, `${mark.slice(0, 62)}${otherEnd}`))],
    ['calldata', withData(callOf(requestor, amount, ''))],
    ['calldata', withData(callOf(requestor, amount, mark.slice(0, 62)))],
    ['calldata', withData(callOf(requestor, amount, `${mark}${'77'.repeat(32)}`))],
    ['calldata', withData(`0x095ea7b3${callOf(requestor, amount, mark).slice(10)}`)],
    [
      'calldata',
      withData(`0x${callOf(requestor, amount, mark).slice(2, 10)}01${callOf(requestor, amount, mark).slice(12)}`),
    ],
  ];
}
