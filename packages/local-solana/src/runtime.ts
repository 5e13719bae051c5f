import { base58 } from '@scure/base';
import type { Address } from '@solana/kit';
import { FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm';
import { errorJson, type TransactionErrorJson } from './transaction-error.ts';
import type { Wire } from './wire.ts';

export interface Account {
  readonly lamports: bigint;
  /** The program that owns it. */
  readonly owner: string;
  readonly executable: boolean;
  readonly data: Uint8Array;
}

interface InnerInstruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  /** Base58. */
  readonly data: string;
  readonly stackHeight: number;
}

/** The result of an execution or simulation. */
export interface Execution {
  readonly error: TransactionErrorJson | null;
  readonly logs: readonly string[];
  readonly units: bigint;
  readonly returnData: { readonly programId: string; readonly data: readonly [string, 'base64'] } | null;
  /** By outer instruction that called others. */
  readonly inner: readonly { readonly index: number; readonly instructions: readonly InnerInstruction[] }[];
}

function execution(outcome: TransactionMetadata | FailedTransactionMetadata): Execution {
  const failed = outcome instanceof FailedTransactionMetadata;
  const meta = failed ? outcome.meta() : outcome;
  const returned = meta.returnData();
  return {
    error: failed ? errorJson(outcome.err()) : null,
    logs: meta.logs(),
    units: meta.computeUnitsConsumed(),
    returnData:
      returned.data().length === 0
        ? null
        : {
            programId: base58.encode(new Uint8Array(returned.programId())),
            data: [Buffer.from(returned.data()).toString('base64'), 'base64'],
          },
    inner: meta
      .innerInstructions()
      .map((called, index) => ({
        index,
        instructions: called.map((one) => {
          const instruction = one.instruction();
          return {
            programIdIndex: instruction.programIdIndex(),
            accounts: [...instruction.accounts()],
            data: base58.encode(new Uint8Array(instruction.data())),
            stackHeight: one.stackHeight(),
          };
        }),
      }))
      .filter(({ instructions }) => instructions.length > 0),
  };
}

/**
 * The Solana runtime in this process. It has accounts and a clock; the chain checks signatures, blockhashes and
 * duplicates, since litesvm keeps only one blockhash.
 */
export class Runtime {
  readonly #svm = new LiteSVM().withBlockhashCheck(false).withSigverify(false).withTransactionHistory(0n);

  /** Sets the time that programs read, and the hashes of the blocks before this slot, newest first. */
  at(slot: number, epoch: number, unixMs: number, hashes: readonly string[]): void {
    const clock = this.#svm.getClock();
    if (clock.slot === BigInt(slot)) return;
    clock.slot = BigInt(slot);
    clock.epoch = BigInt(epoch);
    clock.leaderScheduleEpoch = BigInt(epoch + 1);
    clock.unixTimestamp = BigInt(Math.floor(unixMs / 1000));
    this.#svm.setClock(clock);
    this.#svm.setSlotHashes(hashes.map((hash, index) => ({ slot: BigInt(slot - 1 - index), hash })));
  }
  account(address: string): Account | null {
    const account = this.#svm.getAccount(address as Address);
    if (!account.exists || (account.lamports === 0n && account.data.length === 0)) return null;
    return {
      lamports: account.lamports,
      owner: account.programAddress,
      executable: account.executable,
      data: new Uint8Array(account.data),
    };
  }
  /** The addresses of the accounts that a program owns. */
  owned(program: string): string[] {
    return this.#svm.getProgramAccounts(program as Address).map(({ address }) => address);
  }
  setAccount(address: string, account: Account | null): void {
    const { lamports, owner, executable, data } = account ?? {
      lamports: 0n,
      owner: '11111111111111111111111111111111',
      executable: false,
      data: new Uint8Array(),
    };
    this.#svm.setAccount({
      address: address as Address,
      lamports: lamports as never,
      programAddress: owner as Address,
      executable,
      data,
      space: BigInt(data.length),
    });
  }
  execute({ transaction }: Wire): Execution {
    return execution(this.#svm.sendTransaction(transaction));
  }
  /** Executes without writing; `accounts` are those that it would have written. */
  simulate({ transaction }: Wire): Execution & { readonly accounts: ReadonlyMap<string, Account> } {
    const outcome = this.#svm.simulateTransaction(transaction);
    if (outcome instanceof FailedTransactionMetadata) return { ...execution(outcome), accounts: new Map() };
    const accounts = outcome
      .postAccounts()
      .map(
        ({ address, lamports, programAddress, executable, data }) =>
          [address, { lamports, owner: programAddress, executable, data: new Uint8Array(data) }] as const,
      );
    return { ...execution(outcome.meta()), accounts: new Map<string, Account>(accounts) };
  }
  /** The lamports that an account of this many bytes must hold (rent exemption). */
  rent(bytes: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(bytes));
  }
}
