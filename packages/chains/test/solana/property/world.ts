import { type Executed, forwarderFile, newSandbox, nodeWallet, type Sandbox } from '@pf/testing/chains';
import {
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { TOKEN_2022_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '../../../src/solana/programs.ts';
import { solanaToken } from '../payments.ts';
import { ACCOUNT_BYTES, MINT_BYTES, tokenInstructions, vaultOf } from '../token-instructions.ts';

/** Numbers below 2^32 that follow from the seed alone (mulberry32). */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const keyOf = (seed: number): Keypair =>
  Keypair.fromSeed(Uint8Array.from({ length: 32 }, (_, place) => (place < 31 ? 7 : seed)));
const SYSTEM = SystemProgram.programId.toBase58();
const SOL = 1_000_000_000n;

export const TOKEN = new PublicKey(TOKEN_PROGRAM_ADDRESS);
const TOKEN_2022 = new PublicKey(TOKEN_2022_PROGRAM_ADDRESS);
export const USDC = new PublicKey(solanaToken('USDC').address);
export const PYUSD = new PublicKey(solanaToken('PYUSD').address);
/** Worthless: anyone mints it. */
export const FAKE = keyOf(1).publicKey;
export const issuer = new PublicKey(nodeWallet.address);
/** Who signs, and who is paid: no requestor signs anything that takes its money. */
export const [payer, other, first, second] = [10, 11, 12, 13].map((seed) => keyOf(seed).publicKey) as [
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
];
export const forwarder = keyOf(20).publicKey;
export const { vault } = vaultOf(forwarder);
export const multisig = keyOf(21).publicKey;
export const programOf = (mint: PublicKey): PublicKey => (mint.equals(PYUSD) ? TOKEN_2022 : TOKEN);

/** A token account, as the test believes it to be. */
export interface Account {
  readonly address: PublicKey;
  /** Null where it does not exist. */
  mint: PublicKey | null;
  owner: PublicKey;
  amount: bigint;
  frozen: boolean;
  delegate: PublicKey | null;
  delegated: bigint;
  /** Only these are given away and closed. */
  readonly isScratch: boolean;
}

/** Where a token account's data has what is looked at. */
const [OWNER_AT, AMOUNT_AT, FEES_AT] = [32, 64, 170];
const PERCENT = 100;

/** The same accounts before each transaction, but for what is random about them. */
export class World {
  readonly #box: Sandbox;
  readonly #templates: ReadonlyMap<string, Uint8Array>;
  readonly #mints: ReadonlyMap<string, Uint8Array>;
  accounts: readonly Account[] = [];
  /** The accounts that are not as a reset leaves them. */
  readonly #touched = new Set<string>();
  /** Whether PYUSD withholds a hundredth. */
  hasFee = false;

  static async open(): Promise<World> {
    const box = await newSandbox();
    const put = (address: PublicKey, owner: string, data: Uint8Array = new Uint8Array(), executable = false): void =>
      box.setAccount(address.toBase58(), { lamports: 1_000n * SOL, owner, executable, data });
    for (const wallet of [payer, other, issuer]) put(wallet, SYSTEM);
    put(forwarder, 'BPFLoader2111111111111111111111111111111111', forwarderFile(), true);
    const run = (...instructions: TransactionInstruction[]): void => {
      const wire = wireOf(instructions, 0);
      if (wire === null) throw new Error('this is too much for a transaction');
      const { meta } = box.execute(wire);
      if (meta.err !== null) throw new Error(`${JSON.stringify(meta.err)}: ${meta.logMessages.join(' ')}`);
    };
    const of = tokenInstructions();
    const rent = Number(SOL);
    run(of.create(payer, FAKE, MINT_BYTES, rent), of.initializeMint(FAKE, payer));
    run(of.create(payer, multisig, 355, rent), of.initializeMultisig(multisig, [payer, other], 2));
    const templates = new Map<string, Uint8Array>();
    for (const [place, mint] of [USDC, FAKE, PYUSD].entries()) {
      const account = keyOf(30 + place).publicKey;
      const program = tokenInstructions(programOf(mint));
      run(program.create(payer, account, spaceOf(mint), rent), program.initialize(account, mint, payer));
      templates.set(mint.toBase58(), box.account(account.toBase58())?.data ?? new Uint8Array());
    }
    const mints = new Map(
      [USDC, FAKE, PYUSD].map((mint) => [mint.toBase58(), box.account(mint.toBase58())?.data ?? new Uint8Array()]),
    );
    return new World(box, templates, mints);
  }

  constructor(box: Sandbox, templates: ReadonlyMap<string, Uint8Array>, mints: ReadonlyMap<string, Uint8Array>) {
    this.#box = box;
    this.#templates = templates;
    this.#mints = mints;
  }

  /** Accounts of everyone in every token, and some that may be anything. */
  reset(random: (below: number) => number): void {
    const hadFee = this.hasFee;
    this.hasFee = random(2) === 0;
    for (const [mint, data] of this.#mints) {
      if (!this.#touched.has(mint) && (mint !== PYUSD.toBase58() || hadFee === this.hasFee)) continue;
      const bytes = Buffer.from(data);
      if (mint === PYUSD.toBase58() && this.hasFee)
        // Extension data: two authorities, what is withheld; then twice: epoch, most, basis points.
        for (const at of [FEES_AT + 72, FEES_AT + 90]) {
          bytes.writeBigUInt64LE(SOL, at + 8);
          bytes.writeUInt16LE(PERCENT, at + 16);
        }
      this.#put(mint, mint === PYUSD.toBase58() ? TOKEN_2022 : TOKEN, bytes);
    }
    const mints = [USDC, PYUSD, FAKE];
    const owners = [payer, other, first, second, vault, multisig];
    const fixed = owners.flatMap((owner, at) =>
      mints.map((mint, place) => this.#account(100 + 3 * at + place, false, mint, owner, 5_000n)),
    );
    const scratch = [0, 1, 2, 3].map((at) => {
      const mint = mints[random(4)] ?? null;
      const owner = owners[random(4)] ?? payer;
      return this.#account(200 + at, true, mint, owner, mint === null || random(2) === 0 ? 0n : BigInt(random(3_000)));
    });
    this.accounts = [...fixed, ...scratch];
    const isFirst = this.#known.size === 0;
    for (const account of this.accounts)
      if (isFirst || account.isScratch || this.#touched.has(textOf(account.address))) this.#write(account);
    this.#touched.clear();
    this.#known = new Map(
      this.accounts.map(({ address, mint, owner, amount }) => [
        textOf(address),
        mint === null ? null : { holder: `${textOf(owner)} ${textOf(mint)}`, amount },
      ]),
    );
  }
  /** What is in each account. */
  #known: ReadonlyMap<string, { readonly holder: string; readonly amount: bigint } | null> = new Map();

  #account(seed: number, isScratch: boolean, mint: PublicKey | null, owner: PublicKey, amount: bigint): Account {
    return { address: addressOf(seed), mint, owner, amount, frozen: false, delegate: null, delegated: 0n, isScratch };
  }
  #write({ address, mint, owner, amount }: Account): void {
    if (mint === null)
      return this.#box.setAccount(address.toBase58(), {
        lamports: 0n,
        owner: SYSTEM,
        executable: false,
        data: new Uint8Array(),
      });
    const data = Buffer.from(this.#templates.get(mint.toBase58()) ?? []);
    owner.toBuffer().copy(data, OWNER_AT);
    data.writeBigUInt64LE(amount, AMOUNT_AT);
    this.#put(address.toBase58(), programOf(mint), data);
  }
  #put(address: string, program: PublicKey, data: Uint8Array): void {
    this.#box.setAccount(address, { lamports: SOL, owner: program.toBase58(), executable: false, data });
  }

  /** What each owner holds of each token, by the chain's own accounts: `owner mint`. */
  holdings(): ReadonlyMap<string, bigint> {
    const held = new Map<string, bigint>();
    for (const [address, known] of this.#known) {
      const found = this.#touched.has(address) ? this.#read(address) : known;
      if (found !== null) held.set(found.holder, (held.get(found.holder) ?? 0n) + found.amount);
    }
    return held;
  }
  #read(address: string): { readonly holder: string; readonly amount: bigint } | null {
    const account = this.#box.account(address);
    if (account === null || account.data.length < ACCOUNT_BYTES) return null;
    const data = Buffer.from(account.data);
    const [mint, owner] = [0, OWNER_AT].map((at) => new PublicKey(data.subarray(at, at + 32)).toBase58());
    return { holder: `${owner} ${mint}`, amount: data.readBigUInt64LE(AMOUNT_AT) };
  }

  execute(instructions: readonly TransactionInstruction[], wire: Uint8Array): Executed {
    for (const { keys } of instructions) for (const { pubkey } of keys) this.#touched.add(textOf(pubkey));
    return this.#box.execute(wire);
  }
}

const texts = new WeakMap<PublicKey, string>();
/** Base58, which takes its time, once for each key. */
function textOf(key: PublicKey): string {
  const known = texts.get(key) ?? key.toBase58();
  texts.set(key, known);
  return known;
}

const addresses = new Map<number, PublicKey>();
function addressOf(seed: number): PublicKey {
  const known = addresses.get(seed) ?? keyOf(seed).publicKey;
  addresses.set(seed, known);
  return known;
}

/** Bytes of a new account: Token-2022's has a part for each extension of its mint that needs one. */
export const spaceOf = (mint: PublicKey): number => (mint.equals(PYUSD) ? ACCOUNT_BYTES + 22 : ACCOUNT_BYTES);

/** Unsigned, as the sandbox takes it, with made-up signatures; null where no transaction has room for that much. */
export function wireOf(instructions: readonly TransactionInstruction[], salt: number): Uint8Array | null {
  const message = new TransactionMessage({
    payerKey: payer,
    recentBlockhash: SYSTEM,
    instructions: [...instructions],
  }).compileToV0Message();
  const signatures = Array.from({ length: message.header.numRequiredSignatures }, (_, place) => {
    const bytes = Buffer.alloc(64, 1);
    bytes.writeUInt32LE(salt, 0);
    bytes[4] = place;
    return bytes;
  });
  try {
    return new VersionedTransaction(message, signatures).serialize();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
