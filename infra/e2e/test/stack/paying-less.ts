import { type StackChain, type StackWallet } from '@pf/testing';
import { evmWallet, solanaWallet, tempoWallet } from '@pf/testing/wallets';

/** The instruction TransferChecked: its number, the amount in 8 bytes, the decimals. */
const TRANSFER_CHECKED = 12;

/**
 * Replaces the amount in the calldata of transfer(to, amount) or transferWithMemo(to, amount, memo): a selector, then
 * words of 32 bytes.
 */
const withAmount = (data: string, units: bigint): `0x${string}` =>
  `0x${data.slice(2, 74)}${units.toString(16).padStart(64, '0')}${data.slice(138)}`;

/** Signs the built transaction with another amount, on each chain family. */
export const signWithAmount: Readonly<
  Record<
    'base' | 'solana' | 'tempo',
    (chain: StackChain, payer: StackWallet, blob: string, units: bigint) => Promise<string>
  >
> = {
  base: (chain, payer, blob, units) =>
    evmWallet(chain, payer).sign(blob, (transaction) => ({
      ...transaction,
      data: withAmount(transaction.data ?? '0x', units),
    })),
  tempo: (chain, payer, blob, units) =>
    tempoWallet(chain, payer).sign(blob, (transaction) => ({
      ...transaction,
      calls: transaction.calls.map((call) => ({ ...call, data: withAmount(call.data ?? '0x', units) })),
    })),
  solana: (chain, payer, blob, units) =>
    solanaWallet(chain, payer).sign(blob, (transaction) => {
      for (const { data } of transaction.message.compiledInstructions) {
        if (data[0] === TRANSFER_CHECKED && data.length === 10)
          new DataView(data.buffer, data.byteOffset).setBigUint64(1, units, true);
      }
      return transaction;
    }),
};
