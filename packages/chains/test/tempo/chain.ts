import type { Address, ChainId, PaymentTerms } from '@pf/domain';
import { RpcPool, type UpstreamSettings } from '@pf/rpc';
import { startTempo, type Tempo } from '@pf/testing/chains';
import { type TempoTransaction, tempoWallet } from '@pf/testing/wallets';
import * as Secp256k1 from 'ox/Secp256k1';
import * as SignatureEnvelope from 'ox/tempo/SignatureEnvelope';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import { concat, encodeFunctionData, erc20Abi, type Hex, hexToBytes, toHex } from 'viem';
import type { ChainUnderTest, PayerWallet } from '../conformance/suite.ts';
import { getHeadNumber, identifyChain } from '../../src/evm/calls.ts';
import { networkOf } from '../../src/index.ts';
import { TempoAdapter } from '../../src/tempo/adapter.ts';
import { encodePayment } from '../../src/tempo/calldata.ts';
import { TempoObserver } from '../../src/tempo/observer.ts';
import { log } from '../base/chain.ts';

const CHAIN = 'eip155:42431' as ChainId;
/** Longer than anything built here can land, in seconds. */
const OVER = 301;

export const tempoPool = (urls: readonly (string | UpstreamSettings)[], timeoutMs = 10_000): RpcPool =>
  new RpcPool({
    network: 'tempo-moderato',
    upstreams: urls,
    dialect: 'evm',
    identify: identifyChain(CHAIN),
    probe: getHeadNumber(),
    log,
    timeoutMs,
  });

export type Change = (transaction: TempoTransaction) => TempoTransaction;
export interface TempoPayer extends PayerWallet {
  readonly privateKey: Hex;
  sign(blob: string, change?: Change): Promise<string>;
}

export interface TempoUnderTest extends ChainUnderTest {
  readonly tempo: Tempo;
  readonly pool: RpcPool;
  readonly adapter: TempoAdapter;
  readonly payers: readonly TempoPayer[];
  /** Lets time pass for the chain and for us. */
  pass(ms: number): Promise<void>;
}

const hexOf = (base64: string): Hex => `0x${Buffer.from(base64, 'base64').toString('hex')}`;
const base64Of = (hex: Hex): string => Buffer.from(hexToBytes(hex)).toString('base64');
let recipients = 0;

/** Signs with ox alone. */
function withOx(blob: string, privateKey: Hex): string {
  const transaction = TxEnvelopeTempo.deserialize(hexOf(blob) as TxEnvelopeTempo.Serialized);
  const signature = Secp256k1.sign({ payload: TxEnvelopeTempo.getSignPayload(transaction), privateKey });
  return base64Of(TxEnvelopeTempo.serialize(transaction, { signature: SignatureEnvelope.from(signature) }));
}

/** Tempo on an anvil of one's own, whose clock the test can put forward; wallets are viem's. */
export const startTempoUnderTest = async (): Promise<TempoUnderTest> => tempoOn(await startTempo());

/** @param url where the service reaches this chain */
export async function tempoOn(tempo: Tempo, url = tempo.rpcUrl): Promise<TempoUnderTest> {
  const pool = tempoPool([url]);
  const network = networkOf(CHAIN);
  const usdc = tempo.tokens['USDC'] as Hex;
  let passed = 0;
  const now = (): number => Date.now() + passed;
  const pass = async (ms: number): Promise<void> => {
    passed += ms;
    await tempo.rpc('evm_increaseTime', toHex(Math.ceil(ms / 1_000)));
    await tempo.mine();
  };
  const balanceOf = async (address: string): Promise<bigint> =>
    BigInt(
      await tempo.rpc<string>(
        'eth_call',
        { to: usdc, data: encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address as Hex] }) },
        'latest',
      ),
    );
  const payers = tempo.wallets.map(({ address, privateKey }): TempoPayer => {
    const wallet = tempoWallet(tempo, { address, privateKey });
    return {
      address: address as Address,
      privateKey: privateKey as Hex,
      sign: (blob, change) => wallet.sign(blob, change),
      signers: {
        'viem/tempo': (blob) => wallet.sign(blob),
        'ox/tempo': async (blob) => withOx(blob, privateKey as Hex),
      },
    };
  });
  await tempo.mine();
  return {
    tempo,
    pool,
    pass,
    adapter: new TempoAdapter(network, pool, now),
    observer: new TempoObserver(network, pool, now),
    payers,
    newRecipient: () => {
      recipients += 1;
      return `0x${'11'.repeat(16)}${recipients.toString().padStart(8, '0')}` as Address;
    },
    balanceOf,
    now,
    land: () => tempo.mine(),
    settle: () => pass(2_000),
    finalize: () => pass(2_000),
    expire: () => pass(OVER * 1_000),
    spoil: async ({ address }) => {
      const data = encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [`0x${'22'.repeat(20)}`, await balanceOf(address)],
      });
      await tempo.rpc('eth_sendTransaction', { from: address, to: usdc, data, gas: toHex(1_000_000) });
      await tempo.mine();
    },
    kill: () => pass(OVER * 1_000),
    async *tampered(blob, payer, terms) {
      for (const [what, change] of tamperings(terms, tempo))
        yield [what, await (payer as TempoPayer).sign(blob, change)];
      // Bytes behind the end of a good transaction.
      yield ['trailing bytes', base64Of(concat([hexOf(await payer.sign(blob)), '0x00']))];
    },
    stop: async () => {
      await pool.close();
      await tempo.stop();
    },
  };
}

const THIEF = `0x${'66'.repeat(20)}` as const;

/** Every field that carries meaning, changed one at a time; the name is the difference that verify must tell. */
function tamperings(
  { requestor, amount, reference }: PaymentTerms,
  { tokens }: Pick<Tempo, 'tokens'>,
): readonly (readonly [string, Change])[] {
  const good = { to: requestor, amount, reference };
  const withCall =
    (change: Partial<TempoTransaction['calls'][number]>): Change =>
    (transaction) => ({ ...transaction, calls: transaction.calls.map((call) => ({ ...call, ...change })) });
  const withData = (data: Hex): Change => withCall({ data });
  const and =
    (more: readonly TempoTransaction['calls'][number][]): Change =>
    (transaction) => ({ ...transaction, calls: [...transaction.calls, ...more] });
  const data = encodePayment(good);
  const other = `${reference.slice(0, 64)}${reference.endsWith('00') ? '01' : '00'}` as typeof reference;
  return [
    ['chain', (transaction) => ({ ...transaction, chainId: 4217 })],
    ['token', withCall({ to: tokens['AlphaUSD'] as Hex })],
    ['value', withCall({ value: 1n })],
    ['recipient', withData(encodePayment({ ...good, to: THIEF as string as Address }))],
    ['amount', withData(encodePayment({ ...good, amount: amount - 1n }))],
    ['amount', withData(encodePayment({ ...good, amount: amount + 1n }))],
    ['reference', withData(encodePayment({ ...good, reference: other }))],
    ['calldata', withData(data.slice(0, 138) as Hex)],
    ['calldata', withData(`0xa9059cbb${data.slice(10, 138)}`)],
    ['calldata', withData(`0x095ea7b3${data.slice(10)}`)],
    ['calldata', withData(`${data}00`)],
    ['calldata', withData(`${data}${reference.slice(2)}`)],
    ['calls', and([{ to: tokens['USDC'] as Hex, data }])],
    ['calls', and([{ to: tokens['USDC'] as Hex, data: encodePayment({ ...good, to: THIEF as string as Address }) }])],
    ['calls', and([{ to: THIEF, data: '0x' }])],
    ['validBefore', ({ validBefore: _validBefore, ...transaction }) => transaction],
  ];
}
