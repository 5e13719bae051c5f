import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, Observation, PaymentTerms, TransactionHash } from '@pf/domain';
import { forwarderFile } from '@pf/testing/chains';
import { deployProgram } from '@pf/testing/wallets';
import { getBase58Encoder } from '@solana/kit';
import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { Watcher } from '../conformance/watching.ts';
import { TOKEN_2022_PROGRAM_ADDRESS } from '../../src/solana/programs.ts';
import { SolanaObserver } from '../../src/solana/observer.ts';
import { solanaPool, type SolanaUnderTest, startSolana, termsOn } from './chain.ts';
import { spaceOf } from './property/world.ts';
import { associatedOf, forwarded, memo, MINT_BYTES, tokenInstructions, vaultOf } from './token-instructions.ts';

const UNITS = 250_000_000n;
const NO_REFERENCE = '11111111111111111111111111111111';
const TOKEN_2022 = new PublicKey(TOKEN_2022_PROGRAM_ADDRESS);
const MULTISIG_BYTES = 355;

/** Money that does not arrive, or is someone else's, on the real token programs. */
describe('SolanaObserver under attack', () => {
  let solana: SolanaUnderTest;
  let connection: Connection;
  let watcher: Watcher;
  let close: () => Promise<void>;
  let program: PublicKey;
  let usdc: PublicKey;
  let pyusd: PublicKey;
  let rent: number;
  const walletOf = (index: number): Keypair =>
    Keypair.fromSecretKey(Uint8Array.from(getBase58Encoder().encode(solana.node.wallets[index]?.privateKey ?? '')));
  /** Whoever attacks; whoever is paid never signs. */
  let me: Keypair;
  let merchant: PublicKey;
  const token = tokenInstructions();

  beforeAll(async () => {
    solana = await startSolana();
    connection = new Connection(solana.node.rpcUrl, 'confirmed');
    [usdc, pyusd] = ['USDC', 'PYUSD'].map((symbol) => new PublicKey(solana.node.tokens[symbol] ?? '')) as [
      PublicKey,
      PublicKey,
    ];
    rent = await connection.getMinimumBalanceForRentExemption(MULTISIG_BYTES);
    const keys = { program: Keypair.generate(), buffer: Keypair.generate() };
    await deployProgram(connection, walletOf(1), keys, forwarderFile(), () => solana.node.advance());
    program = keys.program.publicKey;
  });
  afterAll(() => solana.stop());
  beforeEach(async () => {
    await solana.node.finalize();
    const pool = solanaPool([solana.node.rpcUrl]);
    close = () => pool.close();
    watcher = new Watcher(new SolanaObserver(solana.adapter.network, pool, solana.clock.now));
    me = walletOf(0);
    merchant = new PublicKey(solana.newRecipient());
    await watcher.step();
  });
  afterEach(() => close());

  async function send(instructions: readonly TransactionInstruction[], ...signers: Keypair[]): Promise<string> {
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({
      payerKey: me.publicKey,
      recentBlockhash: blockhash,
      instructions: [...instructions],
    });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    transaction.sign([me, ...signers]);
    const hash = await connection.sendRawTransaction(transaction.serialize());
    await solana.node.advance();
    return hash;
  }
  async function after(ms: number): Promise<readonly Observation[]> {
    solana.clock.pass(ms);
    return watcher.step();
  }
  function watched(amount = UNITS, id = 'pi_test', symbol = 'USDC', requestor = merchant): PaymentTerms {
    const terms = termsOn(solana, symbol, requestor.toBase58() as Address, amount);
    watcher.watched.add(id, terms);
    return terms;
  }
  const referenceOf = ({ reference }: PaymentTerms): PublicKey => new PublicKey(reference);
  const mine = (mint = usdc): PublicKey =>
    mint.equals(pyusd) ? associatedOf(me.publicKey, mint, TOKEN_2022) : associatedOf(me.publicKey, mint);
  const theirs = (mint = usdc): PublicKey =>
    mint.equals(pyusd) ? associatedOf(merchant, mint, TOKEN_2022) : associatedOf(merchant, mint);
  /** A millionth of a dollar, so that the watcher looks at the transaction. */
  const notice = (mint = usdc): TransactionInstruction[] => {
    const of = mint.equals(pyusd) ? tokenInstructions(TOKEN_2022) : token;
    return [
      of.createAssociated(me.publicKey, merchant, mint),
      of.checked(mine(mint), theirs(mint), mint, 1n, me.publicKey),
    ];
  };
  /** Of one who holds what is to be moved. */
  const made = (of: Keypair, mint = usdc, owner = me.publicKey): TransactionInstruction[] => {
    const make = mint.equals(pyusd) ? tokenInstructions(TOKEN_2022) : token;
    return [make.create(me.publicKey, of.publicKey, spaceOf(mint), rent), make.initialize(of.publicKey, mint, owner)];
  };

  it.each(['USDC', 'PYUSD'])('does not count %s that goes back before its account is given away', async (symbol) => {
    const mint = symbol === 'USDC' ? usdc : pyusd;
    const make = symbol === 'USDC' ? token : tokenInstructions(TOKEN_2022);
    const terms = watched(UNITS, 'pi_test', symbol);
    const account = Keypair.generate();
    await send(
      [
        ...made(account, mint),
        make.checked(mine(mint), account.publicKey, mint, UNITS, me.publicKey, [referenceOf(terms)]),
        make.checked(account.publicKey, mine(mint), mint, UNITS, me.publicKey),
        make.setAuthority(account.publicKey, 2, merchant, me.publicKey),
        ...notice(mint),
      ],
      account,
    );
    watcher.watched.detect(terms);
    expect(await after(1_000)).toEqual([]);
  });

  it('does not count what is burnt before its account is given away', async () => {
    const terms = watched();
    const account = Keypair.generate();
    await send(
      [
        ...made(account),
        token.checked(mine(), account.publicKey, usdc, UNITS, me.publicKey, [referenceOf(terms)]),
        token.burn(account.publicKey, usdc, UNITS, me.publicKey),
        token.setAuthority(account.publicKey, 2, merchant, me.publicKey),
        ...notice(),
      ],
      account,
    );
    watcher.watched.detect(terms);
    expect(await after(1_000)).toEqual([]);
  });

  it('does not count what a batch takes back', async () => {
    const terms = watched();
    const account = Keypair.generate();
    await send(
      [
        ...made(account),
        token.checked(mine(), account.publicKey, usdc, UNITS, me.publicKey, [referenceOf(terms)]),
        token.batch([token.transfer(account.publicKey, mine(), UNITS, me.publicKey)]),
        token.setAuthority(account.publicKey, 2, merchant, me.publicKey),
        ...notice(),
      ],
      account,
    );
    watcher.watched.detect(terms);
    expect(await after(1_000)).toEqual([]);
  });

  it('sets aside with a warning what a batch pays, beside what is judged in the same transaction', async () => {
    const [terms, other] = [watched(), watched(1_000_000n, 'pi_other', 'USDC', new PublicKey(solana.newRecipient()))];
    const owner = new PublicKey(other.requestor);
    await send([
      token.createAssociated(me.publicKey, merchant, usdc),
      token.createAssociated(me.publicKey, owner, usdc),
    ]);
    await after(1_000);
    const hash = await send([
      token.batch([token.checked(mine(), theirs(), usdc, UNITS, me.publicKey, [referenceOf(terms)])]),
      token.checked(mine(), associatedOf(owner, usdc), usdc, other.amount, me.publicKey, [referenceOf(other)]),
    ]);
    const paid = [{ intentId: 'pi_other', type: 'landed', data: { hash, transfer: { amount: other.amount } } }];
    expect(await after(1_000)).toMatchObject(paid);
    expect((await watcher.stepOnce()).setAside).toBe(1);
    const gain = `${UNITS} base units of ${usdc.toBase58()}`;
    const why = `${merchant.toBase58()} gained ${gain} in it that may be for pi_test`;
    expect(watcher.warnings).toEqual([expect.stringMatching(new RegExp(`${hash} of slot \\d+ is set aside: ${why}`))]);
    await after(24 * 3_600_000);
    expect((await watcher.stepOnce()).setAside).toBe(0);
    expect(watcher.warnings.at(-1)).toMatch(new RegExp(`${hash} of slot \\d+ is given up: ${why}`));
  });

  it('sets nothing aside where a batch brings no money, or names no intent', async () => {
    const terms = watched();
    await send([token.createAssociated(me.publicKey, merchant, usdc)]);
    await send([token.batch([token.checked(mine(), theirs(), usdc, 0n, me.publicKey, [referenceOf(terms)])])]);
    await send([token.batch([token.checked(mine(), theirs(), usdc, UNITS, me.publicKey)])]);
    watcher.watched.detect(terms);
    expect(await after(1_000)).toEqual([]);
    expect((await watcher.stepOnce()).setAside).toBe(0);
    expect(watcher.warnings).toEqual([]);
  });

  it('does not count a worthless token in an account that was of another before', async () => {
    const terms = watched();
    const [fake, account] = [Keypair.generate(), Keypair.generate()];
    await send(
      [
        token.create(me.publicKey, fake.publicKey, MINT_BYTES, rent),
        token.initializeMint(fake.publicKey, me.publicKey),
        ...made(account),
      ],
      fake,
      account,
    );
    await send(
      [
        token.createAssociated(me.publicKey, merchant, fake.publicKey),
        token.close(account.publicKey, me.publicKey, me.publicKey),
        ...made(account, fake.publicKey),
        token.mintTo(fake.publicKey, account.publicKey, UNITS, me.publicKey),
        token.transfer(account.publicKey, theirs(fake.publicKey), UNITS, me.publicKey, [referenceOf(terms)]),
        ...notice(),
      ],
      account,
    );
    watcher.watched.detect(terms);
    expect(await after(1_000)).toEqual([]);
  });

  it('counts one amount once, however often it goes round', async () => {
    const all = ['pi_1', 'pi_2', 'pi_3'].map((id) => watched(100_000_000n, id));
    const account = Keypair.generate();
    await send(made(account), account);
    const goes = all.flatMap((terms, place) => [
      token.checked(mine(), account.publicKey, usdc, terms.amount, me.publicKey, [referenceOf(terms)]),
      ...(place < 2 ? [token.checked(account.publicKey, mine(), usdc, terms.amount, me.publicKey)] : []),
    ]);
    await send([...goes, token.setAuthority(account.publicKey, 2, merchant, me.publicKey), ...notice()]);
    const amounts = (await after(1_000)).map(({ data }) => ('transfer' in data ? data.transfer.amount : 0n));
    expect(amounts).toHaveLength(3);
    expect(amounts.reduce((sum, one) => sum + one, 0n)).toBe(100_000_000n);
    expect(amounts).not.toContain(100_000_000n);
  });

  it('reports no extra and no mismatched payment that never came', async () => {
    const terms = watched(5_000_000n);
    const hash = await send([
      ...notice(),
      token.checked(mine(), theirs(), usdc, terms.amount, me.publicKey, [referenceOf(terms)]),
    ]);
    expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash, transfer: { amount: 5_000_000n } } }]);
    const account = Keypair.generate();
    const round = (units: bigint): TransactionInstruction[] => [
      token.checked(mine(), account.publicKey, usdc, units, me.publicKey, [referenceOf(terms)]),
      token.checked(account.publicKey, mine(), usdc, units, me.publicKey),
    ];
    await send(
      [
        ...made(account),
        ...round(5_000_000n),
        ...round(9_999_000_000n),
        token.setAuthority(account.publicKey, 2, merchant, me.publicKey),
        ...notice(),
      ],
      account,
    );
    expect((await after(1_000)).filter(({ data }) => data.hash !== hash)).toEqual([]);
  });

  describe('where a program pays of its vault, for whoever calls it', () => {
    const AMOUNT = 5_000_000n;
    let vault: PublicKey;
    beforeEach(async () => {
      ({ vault } = vaultOf(program));
      await send([
        ...notice(),
        token.createAssociated(me.publicKey, vault, usdc),
        token.checked(mine(), associatedOf(vault, usdc), usdc, 10n * AMOUNT, me.publicKey),
      ]);
    });
    const payout = (references: readonly PublicKey[] = []): TransactionInstruction =>
      forwarded(program, token.checked(associatedOf(vault, usdc), theirs(), usdc, AMOUNT, vault, references));

    it.each(['memo', 'reference'])('proves nothing by a %s that the caller has written', async (kind) => {
      const terms = watched(AMOUNT);
      const hash = await send(kind === 'memo' ? [payout(), memo(terms.reference)] : [payout([referenceOf(terms)])]);
      expect(await after(1_000)).toMatchObject([
        {
          type: 'landed',
          intentId: 'pi_test',
          data: { hash, transfer: { reference: NO_REFERENCE, from: vault.toBase58(), amount: AMOUNT } },
        },
      ]);
      // Nor does it claim the intent by its hash.
      const fetched = await solana.adapter.fetchSent(hash as TransactionHash);
      if (fetched === null) throw new Error('the node shows it');
      expect(await solana.adapter.verify(fetched, terms, vault.toBase58() as Address, true)).toEqual({
        kind: 'mismatch',
        differs: { reference: { expected: terms.reference, actual: NO_REFERENCE } },
      });
    });

    it('gives the money to no claim of the caller that is empty', async () => {
      const terms = watched(AMOUNT);
      const account = Keypair.generate();
      await send(
        [
          ...made(account),
          token.checked(mine(), account.publicKey, usdc, AMOUNT, me.publicKey, [referenceOf(terms)]),
          token.checked(account.publicKey, mine(), usdc, AMOUNT, me.publicKey),
          token.setAuthority(account.publicKey, 2, merchant, me.publicKey),
          payout(),
        ],
        account,
      );
      watcher.watched.detect(terms);
      expect(await after(1_000)).toEqual([]);
    });

    it.each(['batch', 'transfer of many bytes'])('gives what comes by a %s to no claim that has gone', async (kind) => {
      const terms = watched(AMOUNT);
      const account = Keypair.generate();
      await send(made(account), account);
      const payment = token.transfer(associatedOf(vault, usdc), account.publicKey, AMOUNT, vault);
      const long = new TransactionInstruction({
        ...payment,
        data: Buffer.concat([payment.data, Buffer.alloc(64)]),
      });
      await send([
        token.checked(mine(), account.publicKey, usdc, AMOUNT, me.publicKey, [referenceOf(terms)]),
        token.batch([token.transfer(account.publicKey, mine(), AMOUNT, me.publicKey)]),
        token.setAuthority(account.publicKey, 2, merchant, me.publicKey),
        forwarded(program, kind === 'batch' ? token.batch([payment]) : long),
        ...notice(),
      ]);
      expect((await connection.getTokenAccountBalance(account.publicKey)).value.amount).toBe(`${AMOUNT}`);
      watcher.watched.detect(terms);
      expect(await after(1_000)).toEqual([]);
      expect((await watcher.stepOnce()).setAside).toBe(1);
    });

    it('counts what a wallet pays by way of the program, as the wallet has signed', async () => {
      const terms = watched(AMOUNT);
      const hash = await send([
        forwarded(program, token.checked(mine(), theirs(), usdc, AMOUNT, me.publicKey, [referenceOf(terms)])),
      ]);
      expect(await after(1_000)).toMatchObject([
        {
          data: {
            hash,
            transfer: { reference: terms.reference, from: me.publicKey.toBase58(), amount: AMOUNT, index: '0.0' },
          },
        },
      ]);
    });
  });

  describe('of a live submission', () => {
    /** As if the wallet had signed this payment and the gateway had verified it. */
    function submitted(terms: PaymentTerms, hash: string): void {
      watcher.watched.submit(
        {
          hash: hash as TransactionHash,
          terms,
          sender: me.publicKey.toBase58() as Address,
          lifetime: { kind: 'block_height', lastValid: 10n ** 9n },
        } as Parameters<typeof watcher.watched.submit>[0],
        solana.clock.now(),
      );
    }

    it('reports who really has the money, where the account was given away in between', async () => {
      const [payee, thief] = [walletOf(6), Keypair.generate().publicKey];
      const terms = watched(7_000_000n, 'pi_test', 'USDC', payee.publicKey);
      const account = associatedOf(payee.publicKey, usdc);
      await send([token.setAuthority(account, 2, thief, payee.publicKey)], payee);
      const hash = await send([token.checked(mine(), account, usdc, terms.amount, me.publicKey, [referenceOf(terms)])]);
      submitted(terms, hash);
      expect(await after(1_000)).toMatchObject([
        { type: 'landed', intentId: 'pi_test', data: { hash, transfer: { to: thief.toBase58(), amount: 7_000_000n } } },
      ]);
    });

    it('reports that nothing has arrived, where it went on', async () => {
      const terms = watched();
      const account = Keypair.generate();
      const hash = await send(
        [
          ...made(account),
          token.checked(mine(), account.publicKey, usdc, UNITS, me.publicKey, [referenceOf(terms)]),
          token.checked(account.publicKey, mine(), usdc, UNITS, me.publicKey),
          token.setAuthority(account.publicKey, 2, merchant, me.publicKey),
        ],
        account,
      );
      submitted(terms, hash);
      expect(await after(1_000)).toMatchObject([
        { type: 'landed', data: { hash, transfer: { to: merchant.toBase58(), amount: 0n } } },
      ]);
    });

    it('reports that it has moved nothing, where it has no transfer for the intent', async () => {
      const terms = watched();
      const hash = await send([memo(terms.reference)]);
      submitted(terms, hash);
      expect(await after(1_000)).toMatchObject([
        {
          type: 'reverted',
          intentId: 'pi_test',
          data: { hash, reason: `the transaction landed and moved nothing to ${merchant.toBase58()}` },
        },
      ]);
      expect(await after(1_000)).toEqual([]);
    });
  });

  it('names who has signed as the one who paid, and not who owned the account before', async () => {
    const [terms, former, account] = [watched(), walletOf(3), Keypair.generate()];
    await send(
      [
        ...made(account, usdc, former.publicKey),
        token.setAuthority(account.publicKey, 3, me.publicKey, former.publicKey),
      ],
      account,
      former,
    );
    const hash = await send(
      [
        token.close(account.publicKey, me.publicKey, me.publicKey),
        ...made(account),
        token.checked(mine(), account.publicKey, usdc, UNITS, me.publicKey),
        ...notice(),
        token.checked(account.publicKey, theirs(), usdc, UNITS, me.publicKey, [referenceOf(terms)]),
      ],
      account,
    );
    expect(await after(1_000)).toMatchObject([
      { data: { hash, transfer: { from: me.publicKey.toBase58(), amount: UNITS } } },
    ]);
  });

  it('names the delegate that has signed', async () => {
    const [terms, owner] = [watched(), walletOf(4)];
    await send([token.approve(associatedOf(owner.publicKey, usdc), me.publicKey, UNITS, owner.publicKey)], owner);
    await send([
      ...notice(),
      token.checked(associatedOf(owner.publicKey, usdc), theirs(), usdc, UNITS, me.publicKey, [referenceOf(terms)]),
    ]);
    expect(await after(1_000)).toMatchObject([
      { data: { transfer: { from: me.publicKey.toBase58(), reference: terms.reference } } },
    ]);
  });

  it('counts what a multisig pays, whose members have signed', async () => {
    const [terms, second, multisig] = [watched(), walletOf(3), Keypair.generate()];
    await send(
      [
        token.create(me.publicKey, multisig.publicKey, MULTISIG_BYTES, rent),
        token.initializeMultisig(multisig.publicKey, [me.publicKey, second.publicKey], 2),
        token.createAssociated(me.publicKey, multisig.publicKey, usdc),
        token.checked(mine(), associatedOf(multisig.publicKey, usdc), usdc, UNITS, me.publicKey),
      ],
      multisig,
    );
    const by = { multisig: multisig.publicKey, signers: [me.publicKey, second.publicKey] };
    await send(
      [
        ...notice(),
        token.checked(associatedOf(multisig.publicKey, usdc), theirs(), usdc, UNITS, by, [referenceOf(terms)]),
      ],
      second,
    );
    expect(await after(1_000)).toMatchObject([
      { data: { transfer: { from: multisig.publicKey.toBase58(), reference: terms.reference, amount: UNITS } } },
    ]);
  });

  it('counts a transfer whose instruction has a byte too many', async () => {
    const terms = watched();
    await send([
      ...notice(),
      token.checked(mine(), theirs(), usdc, UNITS, me.publicKey, [referenceOf(terms)], Buffer.of(0)),
    ]);
    expect(await after(1_000)).toMatchObject([{ data: { transfer: { amount: UNITS, reference: terms.reference } } }]);
  });

  it('counts nothing that the requestor moves between accounts of its own', async () => {
    const owner = walletOf(5);
    const terms = watched(UNITS, 'pi_test', 'USDC', owner.publicKey);
    const account = Keypair.generate();
    await send(
      [
        token.create(owner.publicKey, account.publicKey, spaceOf(usdc), rent),
        token.initialize(account.publicKey, usdc, owner.publicKey),
        token.checked(associatedOf(owner.publicKey, usdc), account.publicKey, usdc, UNITS, owner.publicKey, [
          referenceOf(terms),
        ]),
      ],
      owner,
      account,
    );
    watcher.watched.detect(terms);
    expect(await after(1_000)).toEqual([]);
  });

  it('is not stopped by a program that is deployed or a system transfer', async () => {
    const terms = watched();
    watcher.watched.detect(terms);
    await send([
      SystemProgram.transfer({ fromPubkey: me.publicKey, toPubkey: new PublicKey(terms.reference), lamports: rent }),
    ]);
    expect(await after(1_000)).toEqual([]);
    expect(watcher.warnings).toEqual([]);
  });
});
