import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicIntent, Reference } from '@pf/domain';
import { Keypair, PublicKey } from '@solana/web3.js';
import { toHex } from 'viem';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  readBackingStack,
  type StackWallet,
  startCluster,
  until,
} from '@pf/testing';
import { type Anvil, type LocalSolana, startAnvil, startSolana, startTempo, type Tempo } from '@pf/testing/chains';
import { associatedAccount, newWallet, tempoWallet, walletOn } from '@pf/testing/wallets';
import { plain, type Shape, shapes, tempoAccounts } from './wallet-shapes.ts';
import { whileBusy } from '../responses.ts';
import { type Name, NAMES } from '../chain-names.ts';

const AMOUNT = '3';
const UNITS = 3_000_000n;
const PACE_MS = 300;
const WAIT_MS = 60_000;
/** A test waits several times. */
const TEST_MS = 180_000;
/** The code of a contract that rejects every call. */
const CODE = '0x60006000fd';

let chains: { readonly base: Anvil; readonly solana: LocalSolana; readonly tempo: Tempo };
let cluster: Cluster;
let api: ApiClient;

const usdcOn = (name: Name): string => chains[name].tokens['USDC'] ?? '';
const walletAt = (name: Name, index: number): StackWallet => chains[name].wallets[index] as StackWallet;

/** Creates an account without a private key: a program's vault on Solana, a contract on Base and Tempo. */
async function smartAccount(name: Name): Promise<string> {
  if (name === 'solana')
    return PublicKey.findProgramAddressSync(
      [Buffer.from('vault'), Keypair.generate().publicKey.toBytes()],
      new PublicKey('SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf'),
    )[0].toBase58();
  const { address } = newWallet(chains[name]);
  await chains[name].rpc('anvil_setCode', address, CODE);
  return address;
}
async function balanceOf(name: Name, owner: string): Promise<bigint> {
  if (name === 'solana') {
    const account = associatedAccount(
      new PublicKey(owner),
      new PublicKey(usdcOn(name)),
      new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
    );
    const { value } = await chains.solana.rpc<{ value: { amount: string } }>(
      'getTokenAccountBalance',
      account.toBase58(),
      { commitment: 'confirmed' },
    );
    return BigInt(value.amount);
  }
  return BigInt(
    await chains[name].rpc<string>(
      'eth_call',
      { to: usdcOn(name), data: `0x70a08231${owner.slice(2).toLowerCase().padStart(64, '0')}` },
      'latest',
    ),
  );
}
async function create(name: Name, requestor: string): Promise<PublicIntent> {
  const { status, body } = await whileBusy('an intent', () =>
    api.create({ chain: chains[name].caip2, token: 'USDC', amount: AMOUNT, requestor }),
  );
  expect([status, body.error]).toEqual([201, undefined]);
  return body.intent;
}

/** Pays a new intent with this kind of wallet, as an app does: build, sign, submit, wait. */
async function pay(name: Name, payer: StackWallet, shape: Shape, requestor: string): Promise<void> {
  const { id } = await create(name, requestor);
  const built = await whileBusy('a transaction', () => api.build(id, payer.address));
  expect([built.status, built.body.error]).toEqual([200, undefined]);
  const { text, hash } = await shape(chains[name], payer, built.body.transaction.blob);
  const submitted = await whileBusy('the node to show what was sent', () => api.submit(id, text, payer.address));
  expect([submitted.status, submitted.body.error, submitted.body.txSignature]).toEqual([200, undefined, hash]);
  const paid = await until(
    `${id} to be finalized`,
    async () => {
      const { intent } = (await api.get(id)).body;
      return intent.state === 'finalized' && intent;
    },
    WAIT_MS,
  );
  expect(paid).toMatchObject({ txSignature: hash, fulfiller: payer.address, retryRequired: false });
  expect(await balanceOf(name, requestor)).toBe(UNITS);
}

/** The payments by name: they run in parallel, and each has its own test. */
const paying = new Map<string, Promise<PromiseSettledResult<void>>>();
function begin(name: string, payment: Promise<void>): void {
  paying.set(
    name,
    Promise.allSettled([payment]).then(([settled]) => settled),
  );
}

/** Creates a payer on Tempo with some USDC, which also pays fees. */
async function newTempoPayer(kind: keyof typeof tempoAccounts, seed: string, units: bigint): Promise<StackWallet> {
  const privateKey = toHex(createHash('sha256').update(seed).digest());
  const { address } = tempoAccounts[kind](privateKey);
  await tempoWallet(chains.tempo, walletAt('tempo', 0)).transfer(usdcOn('tempo'), address, units);
  await until(`${address} to have its USDC`, async () => (await balanceOf('tempo', address)) === units);
  return { address, privateKey };
}
/** Creates a payer with USDC but nothing to pay fees with. */
async function newPoorPayer(name: Name, units: bigint): Promise<StackWallet> {
  const poor = newWallet(chains[name]);
  if (name === 'solana') await chains.solana.mint(poor.address, 'USDC', units);
  else
    await walletOn(chains[name], walletAt(name, 0)).pay(
      usdcOn(name),
      poor.address,
      units,
      `0x${'00'.repeat(32)}` as Reference,
    );
  await until(`${poor.address} to have its USDC`, async () => (await balanceOf(name, poor.address)) === units);
  return poor;
}
/** The error of `build`: status, code, param and message. */
async function refusal(name: Name, requestor: string, fulfiller: string): Promise<unknown> {
  const { id } = await create(name, requestor);
  const { status, body } = await whileBusy('a refusal', () => api.build(id, fulfiller));
  return [status, body.error?.code, body.error?.param, body.error?.message];
}

const title = (name: Name, shape: string): string => `${name}: ${shape}`;
const TO_SMART_ACCOUNT = 'to an account without a key';

beforeAll(async () => {
  const [base, solana, tempo] = await Promise.all([
    startAnvil({ blockMs: PACE_MS }),
    startSolana({ slotMs: PACE_MS }),
    startTempo({ blockMs: PACE_MS }),
  ]);
  chains = { base, solana, tempo };
  cluster = await startCluster(readBackingStack(), Object.values(chains));
  const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('watcher')]);
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);

  for (const name of ['base', 'solana'] as const) {
    for (const [index, { name: shapeName, shape }] of shapes[name].entries())
      begin(title(name, shapeName), pay(name, walletAt(name, index + 1), shape, newWallet(chains[name]).address));
    begin(
      title(name, TO_SMART_ACCOUNT),
      smartAccount(name).then((account) => pay(name, walletAt(name, 7), plain[name], account)),
    );
  }
  for (const { name: shapeName, shape, kind } of shapes.tempo) {
    const payer = await newTempoPayer(kind, shapeName, 10n * UNITS);
    begin(title('tempo', shapeName), pay('tempo', payer, shape, newWallet(chains.tempo).address));
  }
  begin(
    title('tempo', TO_SMART_ACCOUNT),
    smartAccount('tempo').then((account) => pay('tempo', walletAt('tempo', 1), plain.tempo, account)),
  );
}, 120_000);
afterAll(async () => {
  await Promise.all(paying.values());
  await cluster.close();
  await Promise.all(Object.values(chains).map((chain) => chain.stop()));
});

describe.each(NAMES)('a payment on %s', (name) => {
  it.each([...shapes[name].map(({ name: shape }) => shape), TO_SMART_ACCOUNT])(
    'lands and is finalized: %s',
    async (shape) => {
      expect(await paying.get(title(name, shape))).toEqual({ status: 'fulfilled', value: undefined });
    },
    TEST_MS,
  );

  it('reports at build how much of the amount the payer lacks', async () => {
    const refused = await refusal(name, walletAt(name, 0).address, newWallet(chains[name]).address);
    const usdc = name === 'tempo' ? 'USDC.e' : 'USDC';
    expect(refused).toEqual([
      422,
      'transaction.rejected',
      null,
      `The chain would reject this payment: the payer has 0 ${usdc} and needs 3 ${usdc}.`,
    ]);
  });

  it('reports at build how much of the fee the payer lacks', async () => {
    const poor = await newPoorPayer(name, UNITS);
    const [status, code, , message] = (await refusal(name, walletAt(name, 0).address, poor.address)) as unknown[];
    const missing = {
      base: /the payer has 0 ETH for fees and may need 0\.\d+ ETH/,
      solana:
        /the payer has 0 SOL and needs 0\.\d+ SOL: 0\.\d+ SOL for the fee, and 0\.\d+ SOL that must stay in the wallet/,
      tempo: /the payer has 3 USDC\.e and needs 3 USDC\.e, and up to 0\.\d+ more for the fee/,
    };
    expect([status, code, message]).toEqual([422, 'transaction.rejected', expect.stringMatching(missing[name])]);
  });
});

it('POST /intents/{id}/build on solana reports how much rent for a new token account the payer lacks', async () => {
  const poor = await newPoorPayer('solana', UNITS);
  await chains.solana.airdrop(poor.address, 2_000_000n);
  await until(
    'the lamports to arrive',
    async () =>
      (await chains.solana.rpc<{ value: number }>('getBalance', poor.address, { commitment: 'confirmed' })).value > 0,
  );
  expect(await refusal('solana', newWallet(chains.solana).address, poor.address)).toEqual([
    422,
    'transaction.rejected',
    null,
    expect.stringMatching(
      new RegExp(
        String.raw`the payer has 0\.002 SOL and needs 0\.00\d+ SOL: 0\.\d+ SOL for the fee, ` +
          String.raw`0\.\d+ SOL for the rent of the requestor's token account,` +
          String.raw` and 0\.\d+ SOL that must stay in the wallet`,
      ),
    ),
  ]);
});

it(
  'POST /intents/{id}/build reports why a wallet cannot pay or be paid',
  async () => {
    const refused = (param: string, reason: string): unknown => [
      422,
      'address.not_payable',
      param,
      `The ${param} ${reason}.`,
    ];
    const [smart, vault] = await Promise.all((['solana', 'tempo'] as const).map(smartAccount));
    const [payer, mint] = [walletAt('solana', 7).address, chains.solana.tokens['PYUSD'] ?? ''];
    expect(await refusal('tempo', walletAt('tempo', 0).address, vault ?? '')).toEqual(
      refused('fulfiller', 'is a contract account, which cannot sign the payment itself'),
    );
    expect(await refusal('solana', walletAt('solana', 0).address, smart ?? '')).toEqual(
      refused('fulfiller', 'is off the ed25519 curve: no key can sign for it'),
    );
    const account = associatedAccount(
      new PublicKey(payer),
      new PublicKey(mint),
      new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'),
    ).toBase58();
    expect(await refusal('solana', account, payer)).toEqual(
      refused('requestor', 'is a mint or a token account: use the address of the wallet that owns it'),
    );
  },
  TEST_MS,
);
