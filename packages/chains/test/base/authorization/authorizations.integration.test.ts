import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Authorization } from '@pf/contracts';
import type { Address, Instant, Observation, PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import { contractNamed, startRpcProxy } from '@pf/testing/chains';
import { sendAs } from '@pf/testing/wallets';
import { concat, encodeAbiParameters, encodeFunctionData, type Hex, keccak256, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import type { AuthorizationVerification, Authorizations, Verification } from '../../../src/index.ts';
import { named, Watcher } from '../../conformance/watching.ts';
import { BaseObserver } from '../../../src/base/observer.ts';
import { type BaseUnderTest, poolOver, startBase } from '../chain.ts';

const AMOUNT = 2_000_000n;
/** The end of every intent here. */
const EXPIRES_AT: Instant = Date.now() + 7 * 86_400_000;
const { abi: tokenAbi } = contractNamed('Stablecoin');
const { abi: puppetAbi, bytecode: puppetCode } = contractNamed('Puppet');
const { bytecode: delegateCode } = contractNamed('Delegate');

let base: BaseUnderTest;
let authorizations: Authorizations;
let watcher: Watcher;
let usdc: Hex;

/** A payer without any ETH. */
interface Payer {
  readonly address: Address;
  sign(authorization: Authorization): Promise<Hex>;
  cancel(nonce: Reference): Promise<Hex>;
}

beforeAll(async () => {
  base = await startBase();
  usdc = base.anvil.tokens['USDC'] as Hex;
  const { authorizations: known } = base.adapter;
  if (known === null) throw new Error('Base has authorizations');
  authorizations = known;
}, 60_000);
afterAll(() => base.stop());
beforeEach(async () => {
  watcher = new Watcher(new BaseObserver(base.adapter.network, base.pool, base.clock.now));
  await base.finalize();
  await watcher.step();
});

async function newPayer(): Promise<Payer> {
  const account = privateKeyToAccount(generatePrivateKey());
  await base.anvil.asTokenOwner(usdc, 'mint', [account.address, 10n * AMOUNT]);
  const domain = { name: 'USDC', version: '2', chainId: 84_532, verifyingContract: usdc } as const;
  return {
    address: account.address as string as Address,
    sign: async ({ from, to, value, validAfter, validBefore, nonce }) =>
      account.signTypedData({
        domain,
        types: {
          TransferWithAuthorization: [
            { name: 'from', type: 'address' },
            { name: 'to', type: 'address' },
            { name: 'value', type: 'uint256' },
            { name: 'validAfter', type: 'uint256' },
            { name: 'validBefore', type: 'uint256' },
            { name: 'nonce', type: 'bytes32' },
          ],
        },
        primaryType: 'TransferWithAuthorization',
        message: {
          from: from as Hex,
          to: to as Hex,
          value: BigInt(value),
          validAfter: BigInt(validAfter),
          validBefore: BigInt(validBefore),
          nonce: nonce as Hex,
        },
      }),
    cancel: async (nonce) =>
      account.signTypedData({
        domain,
        types: {
          CancelAuthorization: [
            { name: 'authorizer', type: 'address' },
            { name: 'nonce', type: 'bytes32' },
          ],
        },
        primaryType: 'CancelAuthorization',
        message: { authorizer: account.address, nonce: nonce as string as Hex },
      }),
  };
}

/** With what deploys the wallet, as one that is not deployed yet signs (ERC-6492). */
const wrapped = (inner: Hex): Hex =>
  concat([
    encodeAbiParameters(
      [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
      [privateKeyToAddress(generatePrivateKey()), toHex('deploy'), inner],
    ),
    `0x${'6492'.repeat(16)}`,
  ]);

let ids = 0;
function newTerms(): PaymentTerms {
  ids += 1;
  const terms = {
    chain: base.adapter.network.chain,
    tokenAddress: usdc as string as PaymentTerms['tokenAddress'],
    amount: AMOUNT,
    requestor: base.newRecipient(),
    reference: base.adapter.newReference(),
  };
  watcher.watched.add(`pi_${ids}`, terms);
  return terms;
}
async function build(terms: PaymentTerms, { address }: Payer): Promise<Authorization> {
  const result = await authorizations.build({
    intentId: 'pi_1' as never,
    terms,
    direction: 'request',
    fulfiller: address,
    expiresAt: EXPIRES_AT,
  });
  if (result.kind !== 'built') throw new Error(JSON.stringify(result));
  return result.typedData.message;
}
const verify = (
  terms: PaymentTerms,
  payer: Payer,
  authorization: Authorization,
  signature: string,
): Promise<AuthorizationVerification> =>
  authorizations.verify({ authorization, signature }, terms, payer.address, EXPIRES_AT);
type Verified = Extract<AuthorizationVerification, { kind: 'verified' }>;
async function authorize(terms: PaymentTerms, payer: Payer): Promise<Verified & { readonly signed: Authorization }> {
  const signed = await build(terms, payer);
  const verified = await verify(terms, payer, signed, await payer.sign(signed));
  if (verified.kind !== 'verified') throw new Error(JSON.stringify(verified));
  return { ...verified, signed };
}
/** As a relayer sends it. Mines a block. */
const relay = async ({ call }: Pick<Verified, 'call'>): Promise<TransactionHash> =>
  (await sendAs(base.anvil, call.to, call.data as Hex)) as TransactionHash;
/** A contract that makes these calls, whatever it is sent: a multicall, a facilitator's, a wallet's. */
async function contractOf(calls: readonly Verified['call'][]): Promise<Hex> {
  const address = privateKeyToAddress(generatePrivateKey());
  await base.anvil.rpc('anvil_setCode', address, puppetCode);
  const script = calls.map(({ to, data }) => ({ target: to, data, mayFail: false, topics: [] }));
  await sendAs(base.anvil, address, encodeFunctionData({ abi: puppetAbi, functionName: 'learn', args: [script] }));
  return address;
}
const relayTogether = async (calls: readonly Verified['call'][]): Promise<TransactionHash> =>
  (await sendAs(base.anvil, await contractOf(calls), '0x12345678')) as TransactionHash;
/** Beside 20,000 empty logs. */
async function relayLoudly(call: Verified['call']): Promise<void> {
  const [target, address] = [await contractOf([call]), privateKeyToAddress(generatePrivateKey())];
  // Counts down from 20,000 and makes an empty log each time, then calls the other contract.
  const code = `0x62004e205b60006000a06001900380600457506000600060006000600073${target.slice(2)}5af15000`;
  await base.anvil.rpc('anvil_setCode', address, code);
  const from = base.anvil.wallets[0]?.address;
  await base.anvil.rpc('eth_sendTransaction', { from, to: address, data: '0x12345678', gas: toHex(16_000_000) });
  await base.anvil.mine();
}
async function settled(): Promise<readonly Observation[]> {
  await watcher.step();
  await base.settle();
  return watcher.step();
}
const landedOf = (observations: readonly Observation[]) =>
  observations.flatMap(({ type, intentId, data }) => (type === 'landed' ? [[intentId, data.hash]] : []));
async function submitted(hash: TransactionHash, terms: PaymentTerms, { address }: Payer): Promise<Verification> {
  const signed = await base.adapter.fetchSent(hash);
  if (signed === null) throw new Error('it was sent');
  return base.adapter.verify(signed, terms, address, true);
}

describe('an authorization on Base', () => {
  it('pays by a call that anyone may send, from a wallet without ETH', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const { call, transaction, signed } = await authorize(terms, payer);
    expect(signed).toMatchObject({ nonce: terms.reference, to: terms.requestor, value: AMOUNT.toString() });
    expect(transaction).toMatchObject({
      sender: payer.address,
      nonce: terms.reference,
      lifetime: { kind: 'time', validBefore: BigInt(signed.validBefore) },
      terms,
    });
    const hash = await relay({ call });
    expect(await base.balanceOf(terms.requestor)).toBe(AMOUNT);
    expect(landedOf(await settled())).toEqual([[`pi_${ids}`, hash]]);
  });

  it('is found within the transaction of another contract, several at once', async () => {
    const [one, other, payer] = [newTerms(), newTerms(), await newPayer()];
    const calls = [(await authorize(one, payer)).call, (await authorize(other, payer)).call];
    const hash = await relayTogether(calls);
    expect(landedOf(await settled())).toEqual([
      [`pi_${ids - 1}`, hash],
      [`pi_${ids}`, hash],
    ]);
  });

  it.each([
    ['alone', relay],
    ['by another contract', ({ call }: Pick<Verified, 'call'>) => relayTogether([call])],
  ])(
    'is verified by the hash of the transaction that brought it %s, for its own intent and wallet',
    async (_how, send) => {
      const [terms, payer] = [newTerms(), await newPayer()];
      const hash = await send(await authorize(terms, payer));
      expect(await submitted(hash, terms, payer)).toMatchObject({ kind: 'verified', transaction: { hash } });
      const reference = base.adapter.newReference();
      expect(await submitted(hash, { ...terms, reference }, payer)).toEqual({
        kind: 'mismatch',
        differs: { reference: { expected: reference, actual: null } },
      });
      expect(await submitted(hash, terms, await newPayer())).toMatchObject({ kind: 'mismatch' });
    },
  );

  it('is the same in whatever case its addresses and its nonce are written', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const { signed, transaction, call, x402 } = await authorize(terms, payer);
    const upper = (text: string): string => `0x${text.slice(2).toUpperCase()}`;
    const written = { ...signed, from: upper(signed.from), to: upper(signed.to), nonce: upper(signed.nonce) };
    expect(await verify(terms, payer, written, await payer.sign(signed))).toEqual({
      kind: 'verified',
      transaction,
      call,
      x402,
    });
  });

  it.each([
    ['recipient', { to: `0x${'66'.repeat(20)}` }],
    ['amount', { value: (AMOUNT + 1n).toString() }],
    ['reference', { nonce: `0x${'01'.repeat(32)}` }],
  ])('is refused with another %s, signed or not', async (name, change) => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const authorization = { ...(await build(terms, payer)), ...change };
    const verification = await verify(terms, payer, authorization, await payer.sign(authorization));
    expect(verification.kind === 'mismatch' && Object.keys(verification.differs)).toEqual([name]);
  });

  it('is refused with the signature of another wallet, contract or chain, or of other times', async () => {
    const [terms, payer, stranger] = [newTerms(), await newPayer(), await newPayer()];
    const good = await build(terms, payer);
    const later = { ...good, validAfter: '1' };
    for (const signature of [
      await stranger.sign(good),
      await payer.sign(later),
      concat(['0x', keccak256('0x01'), keccak256('0x02'), '0x1b']),
      '0x1234' as const,
    ])
      expect(await verify(terms, payer, good, signature)).toMatchObject({
        kind: 'rejected',
        reason: expect.stringMatching(/signature/),
      });
  });

  it('is refused before its time, after it, or with too long a life', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const good = await build(terms, payer);
    const reasonOf = async (change: Partial<Authorization>): Promise<string> => {
      const authorization = { ...good, ...change };
      const verification = await verify(terms, payer, authorization, await payer.sign(authorization));
      return verification.kind === 'rejected' ? verification.reason : verification.kind;
    };
    expect(await reasonOf({ validAfter: good.validBefore })).toContain('not yet valid');
    expect(await reasonOf({ validBefore: '1' })).toContain('expired');
    expect(await reasonOf({ validBefore: (BigInt(good.validBefore) + 3_600n).toString() })).toContain('at most');
    expect(await reasonOf({})).toBe('verified');
  });

  it('is refused when the payer lacks the amount, or is blocked', async () => {
    const terms = { ...newTerms(), amount: 11n * AMOUNT };
    const payer = await newPayer();
    await expect(build(terms, payer)).rejects.toThrow('the payer has 20 USDC and needs 22 USDC');
    const blocked = newTerms();
    await base.anvil.asTokenOwner(usdc, 'blacklist', [blocked.requestor]);
    await expect(build(blocked, payer)).rejects.toThrow('not_payable');
  });

  it('moves money once: a second time it is refused, and so is another of its wallet', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const { call, signed } = await authorize(terms, payer);
    await relay({ call });
    expect(await verify(terms, payer, signed, await payer.sign(signed))).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining('authorization is used or canceled'),
    });
    await expect(build(terms, payer)).rejects.toThrow('has used or cancelled its authorization');
    await expect(relay({ call })).resolves.toBeDefined();
    expect(await base.balanceOf(terms.requestor)).toBe(AMOUNT);
  });

  it('is verified by the account itself where it has code (EIP-7702), wrapped for its factory or not', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const contract = privateKeyToAddress(generatePrivateKey());
    await base.anvil.rpc('anvil_setCode', contract, delegateCode);
    await base.anvil.rpc('anvil_setCode', payer.address, concat(['0xef0100', contract]));
    const authorization = await build(terms, payer);
    const key = await payer.sign(authorization);
    expect(await verify(terms, payer, authorization, key)).toMatchObject({ kind: 'rejected' });
    const own = concat([payer.address as string as Hex, key]);
    expect(await verify(terms, payer, authorization, own)).toMatchObject({ kind: 'verified' });
    const verified = await verify(terms, payer, authorization, wrapped(own));
    if (verified.kind !== 'verified') throw new Error(JSON.stringify(verified));
    const hash = await relay(verified);
    expect(landedOf(await settled())).toEqual([[`pi_${ids}`, hash]]);
  });

  it('is refused from a wallet that only its factory knows (ERC-6492)', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const authorization = await build(terms, payer);
    expect(await verify(terms, payer, authorization, wrapped(await payer.sign(authorization)))).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining('not deployed yet'),
    });
  });
});

describe('a token without EIP-3009 on Base', () => {
  it('is paid by transactions only', async () => {
    const eurc = base.anvil.tokens['EURC'] ?? '';
    const [terms, payer] = [{ ...newTerms(), tokenAddress: eurc as PaymentTerms['tokenAddress'] }, await newPayer()];
    await base.anvil.rpc('anvil_setCode', eurc, delegateCode);
    await expect(build(terms, payer)).rejects.toThrow('unsupported');
    const authorization = await build({ ...terms, tokenAddress: usdc as string as typeof terms.tokenAddress }, payer);
    const signature = await payer.sign(authorization);
    expect(await verify(terms, payer, authorization, signature)).toEqual({ kind: 'unsupported' });
  });
});

describe('the claim of an authorization on Base', () => {
  it('ends when the time of a safe block is its own, and not before', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const { transaction, signed } = await authorize(terms, payer);
    watcher.watched.submit(transaction, base.clock.now());
    // The blocks after this one have the time that passes: on a busy machine some seconds.
    await base.anvil.rpc('evm_setNextBlockTimestamp', Number(signed.validBefore) - 60);
    await base.finalize();
    expect(named(await watcher.step())).toEqual([]);
    await base.anvil.rpc('evm_setNextBlockTimestamp', Number(signed.validBefore));
    await base.settle();
    expect(named(await watcher.step())).toEqual([]);
    await base.finalize();
    expect(await watcher.step()).toMatchObject([
      { type: 'dropped', data: { hash: transaction.hash, proof: expect.stringContaining('validBefore has passed') } },
    ]);
  });

  it('ends after its payment is reported, by whatever transaction', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const { transaction, call } = await authorize(terms, payer);
    watcher.watched.submit(transaction, base.clock.now());
    await relayTogether([call]);
    await base.anvil.mine(10);
    expect(named(await watcher.step())).toEqual([]);
    base.clock.pass(2_000);
    const first = named(await watcher.step());
    base.clock.pass(2_000);
    expect([...first, ...named(await watcher.step())]).toEqual(['landed confirmed', 'landed finalized', 'dropped']);
  });

  it('ends after its payment is reported, also where its relayer has made the receipt too long', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const { transaction, call } = await authorize(terms, payer);
    watcher.watched.submit(transaction, base.clock.now());
    await relayLoudly(call);
    expect(await base.balanceOf(terms.requestor)).toBe(AMOUNT);
    const seen: string[] = [];
    for (let step = 0; step < 30 && !seen.includes('dropped'); step += 1) {
      await base.anvil.mine(2);
      base.clock.pass(3_000);
      seen.push(...named(await watcher.step()));
    }
    expect(seen[0]).toBe('landed confirmed');
    expect(seen.at(-1)).toBe('dropped');
  }, 60_000);

  it('ends when its payer has cancelled it, at a safe block', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const { transaction } = await authorize(terms, payer);
    watcher.watched.submit(transaction, base.clock.now());
    const args = [payer.address, terms.reference, await payer.cancel(terms.reference)];
    await sendAs(base.anvil, usdc, encodeFunctionData({ abi: tokenAbi, functionName: 'cancelAuthorization', args }));
    await base.settle();
    expect(named(await watcher.step())).toEqual([]);
    base.clock.pass(60_000);
    await base.finalize();
    expect(await watcher.step()).toMatchObject([
      { type: 'dropped', data: { hash: transaction.hash, proof: expect.stringContaining('used or cancelled') } },
    ]);
  });

  it('is checked less often the older it gets', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const { transaction } = await authorize(terms, payer);
    const proxy = await startRpcProxy(base.anvil.rpcUrl);
    const pool = poolOver([proxy.url]);
    const own = new Watcher(new BaseObserver(base.adapter.network, pool, base.clock.now));
    own.watched.add(`pi_${ids}`, terms);
    own.watched.submit(transaction, base.clock.now() - 60_000);
    const asked = async (): Promise<number> => {
      base.clock.pass(2_000);
      proxy.calls.clear();
      await own.step();
      return proxy.calls.get('eth_call') ?? 0;
    };
    expect([await asked(), await asked(), await asked()]).toEqual([1, 0, 0]);
    base.clock.pass(30_000);
    expect([await asked(), await asked()]).toEqual([1, 0]);
    await pool.close();
    await proxy.stop();
  });

  it('is found again after a reorg, in another transaction', async () => {
    const [terms, payer] = [newTerms(), await newPayer()];
    const { transaction, call } = await authorize(terms, payer);
    watcher.watched.submit(transaction, base.clock.now());
    const first = await relay({ call });
    expect(landedOf(await settled())).toEqual([[`pi_${ids}`, first]]);
    await base.anvil.rpc('anvil_reorg', 2, []);
    const lost = await watcher.step();
    expect(named(lost)).toEqual(['lost']);
    const second = await relayTogether([call]);
    expect(second).not.toBe(first);
    expect(landedOf(await settled())).toEqual([[`pi_${ids}`, second]]);
  });
});
