import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Address, Reference } from '@pf/domain';
import { seededRandom } from '@pf/testing';
import * as SignatureEnvelope from 'ox/tempo/SignatureEnvelope';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import { encodeFunctionData, getAddress, type Hex, keccak256, parseAbi, toHex } from 'viem';
import { Account } from 'viem/tempo';
import { Watcher } from '../conformance/watching.ts';
import { startTempoUnderTest, type TempoUnderTest } from './chain.ts';
import type { payer } from './payments.ts';

/** A run by hand makes more. */
const TRANSACTIONS = Number(process.env['PF_PROPERTY_TRANSACTIONS'] ?? 100);
const SEED = Number(process.env['PF_PROPERTY_SEED'] ?? 36);
const A_BLOCK = 20;
const CALLS_MAX = 5;
const FEE_MANAGER = '0xfeEC000000000000000000000000000000000000';
const ZERO = getAddress(`0x${'00'.repeat(20)}`);
const TRANSFER = keccak256(toHex('Transfer(address,address,uint256)'));
/** Few amounts, so that transfers are often alike. */
const AMOUNTS = [0n, 1n, 1_000n, 1_000n, 2_000n];

const tip20 = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function balanceOf(address account) view returns (uint256)',
  'function burn(uint256 amount)',
  'function burnWithMemo(uint256 amount, bytes32 memo)',
  'function grantRole(bytes32 role, address account)',
  'function mint(address to, uint256 amount)',
  'function mintWithMemo(address to, uint256 amount, bytes32 memo)',
  'function transfer(address to, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amount)',
  'function transferFromWithMemo(address from, address to, uint256 amount, bytes32 memo)',
  'function transferWithMemo(address to, uint256 amount, bytes32 memo)',
]);

type Signer = typeof payer;
interface Call {
  readonly to: Hex;
  readonly data: Hex;
}
/** What a call with a memo moves, should its transaction succeed. */
interface Order {
  readonly token: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly amount: bigint;
  readonly memo: Hex;
}
interface Landed extends Order {
  readonly hash: string;
  readonly index: string;
}
interface Moved {
  readonly token: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly amount: bigint;
}

let chain: TempoUnderTest;
let watcher: Watcher;
let tokens: readonly Hex[];
let signers: readonly Signer[];
/** Recipients of intents: three that sign, pay and sponsor themselves, and two that do not. */
let requestors: readonly Hex[];

const random = seededRandom(SEED);
const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
const chance = (share: number): boolean => random() < share;
const bytes = (length: number): Hex => `0x${Array.from({ length }, () => pick([...'0123456789abcdef'])).join('')}`;
const addressIn = (topic: string | undefined): Hex => getAddress(`0x${(topic ?? '').slice(26)}`);

beforeAll(async () => {
  chain = await startTempoUnderTest();
  tokens = ['USDC', 'AlphaUSD'].map((symbol) => getAddress(chain.tempo.tokens[symbol] ?? ''));
  signers = chain.payers.map(({ privateKey }) => Account.fromSecp256k1(privateKey));
  requestors = [
    ...signers.slice(0, 3).map(({ address }) => getAddress(address)),
    ...[1, 2].map(() => getAddress(chain.newRecipient())),
  ];
  const [usdc] = tokens as [Hex];
  const role = keccak256(toHex('ISSUER_ROLE'));
  // The first of them may mint and burn, and each may move what others have.
  for (const { address } of signers.slice(2, 4))
    await chain.tempo.asTokenOwner(
      usdc,
      encodeFunctionData({ abi: tip20, functionName: 'grantRole', args: [role, address] }),
    );
  for (const token of tokens)
    for (const owner of signers)
      await send(
        owner,
        signers.map(({ address }) => ({
          to: token,
          data: encodeFunctionData({ abi: tip20, functionName: 'approve', args: [address, 10n ** 15n] }),
        })),
        null,
        tokens[1] as Hex,
      );
  await chain.tempo.mine(20);
  watcher = new Watcher(chain.observer);
  await watcher.step();
}, 120_000);
afterAll(() => chain.stop());

/** Signs and sends a transaction of type 0x76 with these calls. */
async function send(from: Signer, calls: readonly Call[], sponsor: Signer | null, feeToken: Hex): Promise<string> {
  const envelope = {
    type: 'tempo',
    chainId: 42_431,
    calls,
    gas: 4_000_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 1_000_000n,
    feeToken,
    nonceKey: BigInt(bytes(40)) + 1n,
    nonce: 0n,
  } as const;
  const unsigned = { ...envelope, ...(sponsor && { feePayerSignature: null }) };
  const signature = SignatureEnvelope.from(await from.sign({ hash: TxEnvelopeTempo.getSignPayload(unsigned) }));
  const feePayerSignature = sponsor && (await approvalOf(unsigned, sponsor, from));
  const raw = TxEnvelopeTempo.serialize(
    { ...unsigned, ...(feePayerSignature && { feePayerSignature }) },
    { signature },
  );
  return chain.tempo.rpc<string>('eth_sendRawTransaction', raw);
}

async function approvalOf(
  envelope: Parameters<typeof TxEnvelopeTempo.getFeePayerSignPayload>[0],
  sponsor: Signer,
  sender: Signer,
): Promise<{ readonly r: bigint; readonly s: bigint; readonly yParity: number }> {
  const hash = TxEnvelopeTempo.getFeePayerSignPayload(envelope, { sender: sender.address });
  const approval = SignatureEnvelope.from(await sponsor.sign({ hash }));
  if (approval.type !== 'secp256k1') throw new Error('sponsors sign with secp256k1');
  const { r, s, yParity } = approval.signature;
  if (yParity === undefined) throw new Error('a signature has a parity');
  return { r, s, yParity };
}

/** A random call of a token, and what it moves with a memo. */
function callOf(sender: Signer, memos: readonly Hex[]): Call & { readonly order: Order | null } {
  const token = pick(tokens);
  const to = chance(0.8) ? pick(requestors) : getAddress(pick(signers).address);
  const amount = pick(AMOUNTS);
  const memo = chance(0.9) ? pick(memos) : bytes(64);
  const self = getAddress(sender.address);
  const owner = chance(0.4) ? pick(requestors.slice(0, 3)) : getAddress(pick(signers).address);
  const made = (
    data: Hex,
    order: Pick<Order, 'from' | 'to'> | null = null,
  ): Call & { readonly order: Order | null } => ({
    to: token,
    data,
    order: order && { token, amount, memo, ...order },
  });
  const isIssuer = signers.slice(2, 4).includes(sender) && token === tokens[0];
  const kind = Math.floor(random() * (isIssuer ? 8 : 4));
  switch (kind) {
    case 0:
      return made(encodeFunctionData({ abi: tip20, functionName: 'transfer', args: [to, amount] }));
    case 1:
      return made(encodeFunctionData({ abi: tip20, functionName: 'transferFrom', args: [owner, to, amount] }));
    case 2:
      return made(
        encodeFunctionData({ abi: tip20, functionName: 'transferFromWithMemo', args: [owner, to, amount, memo] }),
        { from: owner, to },
      );
    case 4:
      return made(encodeFunctionData({ abi: tip20, functionName: 'mint', args: [to, amount] }));
    case 5:
      return made(encodeFunctionData({ abi: tip20, functionName: 'mintWithMemo', args: [to, amount, memo] }), {
        from: ZERO,
        to,
      });
    case 6:
      return made(encodeFunctionData({ abi: tip20, functionName: 'burn', args: [amount] }));
    case 7:
      return made(encodeFunctionData({ abi: tip20, functionName: 'burnWithMemo', args: [amount, memo] }), {
        from: self,
        to: ZERO,
      });
    default:
      return made(encodeFunctionData({ abi: tip20, functionName: 'transferWithMemo', args: [to, amount, memo] }), {
        from: self,
        to,
      });
  }
}

/** A block of random transactions, and what the memos in each say. */
async function play(memos: readonly Hex[]): Promise<ReadonlyMap<string, readonly Order[]>> {
  const sent = new Map<string, readonly Order[]>();
  for (let count = 0; count < A_BLOCK; count += 1) {
    const sender = pick(signers);
    const calls = Array.from({ length: 1 + Math.floor(random() * CALLS_MAX) }, () => callOf(sender, memos));
    const sponsor = chance(0.3) ? pick(signers.filter((one) => one !== sender)) : null;
    const hash = await send(
      sender,
      calls.map(({ to, data }) => ({ to, data })),
      sponsor,
      pick(tokens),
    );
    sent.set(
      hash,
      calls.flatMap(({ order }) => order ?? []),
    );
  }
  await chain.tempo.mine(3);
  return sent;
}

interface Raw {
  readonly status: Hex;
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
}
/** What the tokens say was moved in a transaction. The last one is the fee. */
async function movedIn(hash: string): Promise<{ readonly isGood: boolean; readonly moved: readonly Moved[] }> {
  const receipt = await chain.tempo.rpc<Raw | null>('eth_getTransactionReceipt', hash);
  if (receipt === null) throw new Error(`${hash} of seed ${SEED} is in no block`);
  const moved = receipt.logs.flatMap(({ address, topics: [event, from, to], data }): Moved[] =>
    event === TRANSFER
      ? [{ token: getAddress(address), from: addressIn(from), to: addressIn(to), amount: BigInt(data) }]
      : [],
  );
  return { isGood: receipt.status === '0x1', moved };
}
const gainOf = (moved: readonly Moved[], token: string, account: string): bigint =>
  moved.reduce(
    (sum, one) =>
      one.token !== token
        ? sum
        : sum + (one.to === account ? one.amount : 0n) - (one.from === account ? one.amount : 0n),
    0n,
  );
const balances = (): Promise<readonly bigint[]> =>
  Promise.all(
    tokens.flatMap((token) =>
      requestors.map(async (account) => {
        const data = encodeFunctionData({ abi: tip20, functionName: 'balanceOf', args: [account] });
        return BigInt(await chain.tempo.rpc<Hex>('eth_call', { to: token, data }, 'latest'));
      }),
    ),
  );

/** What an account pays itself is reported where it is nothing, as nothing. */
const isPaid = ({ from, to }: Pick<Order, 'from' | 'to'>): boolean => from !== to;

async function observe(): Promise<readonly Landed[]> {
  const found = new Map<string, Landed>();
  for (const one of await watcher.step()) {
    if (one.type !== 'landed') throw new Error(`nothing was submitted, and it is observed as ${one.type}`);
    const { hash, transfer } = one.data;
    const { index, amount, reference } = transfer;
    const [token, from, to] = [transfer.tokenAddress, transfer.from, transfer.to] as unknown as readonly [
      Hex,
      Hex,
      Hex,
    ];
    found.set(`${hash} ${index}`, { hash, index, token, from, to, amount, memo: reference as string as Hex });
  }
  return [...found.values()];
}

describe('random transactions on Tempo', () => {
  it(
    'pay an intent what its recipient has gained at most, and all of it where nothing of that went out again',
    async () => {
      let [made, failed, counted, reduced] = [0, 0, 0, 0];
      while (made < TRANSACTIONS) {
        const memos = requestors.map((requestor) => {
          const reference = bytes(64);
          watcher.watched.add(`pi_${reference}`, {
            chain: chain.adapter.network.chain,
            tokenAddress: tokens[0] as string as never,
            amount: 1_000n,
            requestor: requestor as string as Address,
            reference: reference as string as Reference,
          });
          return reference;
        });
        const before = await balances();
        const sent = await play(memos);
        const landed = await observe();
        const all: Moved[] = [];
        for (const [hash, orders] of sent) {
          const { isGood, moved } = await movedIn(hash);
          all.push(...moved);
          const ofOne = landed.filter((one) => one.hash === hash);
          if (!isGood) {
            failed += 1;
            expect(ofOne).toEqual([]);
            continue;
          }
          const fee = moved.at(-1);
          const withoutFee = fee?.to === FEE_MANAGER ? moved.slice(0, -1) : moved;
          for (const token of tokens)
            for (const to of requestors) {
              const name = `${hash} of seed ${SEED}, ${token} to ${to}`;
              const own = ofOne.filter((one) => one.token === token && one.to === to);
              const sum = own.reduce((units, { amount }) => units + amount, 0n);
              const gained = gainOf(withoutFee, token, to);
              expect({ name, isAtMost: sum <= (gained > 0n ? gained : 0n) }).toEqual({ name, isAtMost: true });
              const isSpending = withoutFee.some((one) => one.token === token && one.from === to && one.to !== to);
              const said = orders.filter(
                (one) => one.token === token && one.to === to && isPaid(one) && memos.includes(one.memo),
              );
              if (isSpending) reduced += own.length;
              else
                expect({
                  name,
                  paid: own.filter(isPaid).map(({ from, amount, memo }) => ({ from, amount, memo })),
                }).toEqual({
                  name,
                  paid: said.map(({ from, amount, memo }) => ({ from, amount, memo })),
                });
            }
        }
        // The logs say the truth.
        const after = await balances();
        expect(after.map((units, place) => units - (before[place] ?? 0n))).toEqual(
          tokens.flatMap((token) => requestors.map((one) => gainOf(all, token, one))),
        );
        for (const terms of [...watcher.watched.all()]) watcher.watched.drop(terms);
        made += sent.size;
        counted += landed.length;
      }
      expect(counted).toBeGreaterThan(reduced);
      expect(reduced).toBeGreaterThan(0);
      process.stdout.write(
        `${made} transactions, of which ${failed} failed: ${counted} payments counted, of them ${reduced} to ` +
          'accounts that spent, too\n',
      );
    },
    Math.max(60_000, TRANSACTIONS * 1_000),
  );
});
