import { accountKeys } from './account-keys.ts';
import { feeOf } from './fee.ts';
import { genesisAccounts } from './genesis.ts';
import { tokenBalances, type TransactionMeta } from './meta.ts';
import { type Account, Runtime } from './runtime.ts';
import { parseWire } from './wire.ts';

/** A transaction in the format of getTransaction with the encoding base64. */
export interface Executed {
  readonly slot: number;
  readonly transaction: readonly [string, 'base64'];
  readonly meta: Omit<TransactionMeta, 'rewards'>;
}

const SLOT = 100;

/**
 * The runtime with the accounts of a new chain, and no chain around it: transactions are executed one after the other,
 * at once, whatever their blockhash and signatures. For tests that execute thousands.
 */
export class Sandbox {
  readonly #runtime = new Runtime();

  constructor() {
    this.#runtime.at(SLOT, 0, 0, []);
    for (const [address, account] of genesisAccounts((bytes) => this.#runtime.rent(bytes)))
      this.#runtime.setAccount(address, account);
  }

  rent(bytes: number): bigint {
    return this.#runtime.rent(bytes);
  }
  account(address: string): Account | null {
    return this.#runtime.account(address);
  }
  setAccount(address: string, account: Account): void {
    this.#runtime.setAccount(address, account);
  }

  /** @throws Error where it is no transaction */
  execute(bytes: Uint8Array): Executed {
    const wire = parseWire(bytes);
    const keys = accountKeys(wire.message, (address) => this.#runtime.account(address));
    if (typeof keys === 'string') throw new Error(keys);
    const accounts = (): (Account | null)[] => keys.all.map((address) => this.#runtime.account(address));
    const accountOf = (address: string): Account | null => this.#runtime.account(address);
    const before = accounts();
    const preTokenBalances = tokenBalances(before, accountOf);
    const execution = this.#runtime.execute(wire);
    const after = accounts();
    return {
      slot: SLOT,
      transaction: [Buffer.from(bytes).toString('base64'), 'base64'],
      meta: {
        err: execution.error,
        status: execution.error === null ? { Ok: null } : { Err: execution.error },
        fee: feeOf(wire.message),
        preBalances: before.map((account) => account?.lamports ?? 0n),
        postBalances: after.map((account) => account?.lamports ?? 0n),
        preTokenBalances,
        postTokenBalances: tokenBalances(after, accountOf),
        innerInstructions: execution.inner,
        logMessages: execution.logs,
        loadedAddresses: keys.loaded,
        computeUnitsConsumed: execution.units,
      },
    };
  }
}
