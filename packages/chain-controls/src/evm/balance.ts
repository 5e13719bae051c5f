import { z } from 'zod';
import { ControlError } from '../control-error.ts';
import type { Node } from '../node.ts';
import { quantity, toWord } from './quantity.ts';

const BALANCE_OF = '0x70a08231';
/** Where a token keeps its balances differs; none keeps them farther down. */
const SLOTS = 64;
const word = z.string();

/** A holder's balance of a token where the chain keeps it: it can be written without a transaction. */
export interface StoredBalance {
  read(): Promise<bigint>;
  write(units: bigint): Promise<void>;
}

/** @throws ControlError where the token keeps balances in a way of its own */
export async function storedBalance(node: Node, token: string, holder: string): Promise<StoredBalance> {
  const padded = holder.slice(2).toLowerCase().padStart(64, '0');
  const balance = await node.call(quantity, 'eth_call', { to: token, data: `${BALANCE_OF}${padded}` }, 'latest');
  for (let slot = 0n; slot < SLOTS; slot += 1n) {
    // Solidity's mapping(address => uint256): keccak256(key ‖ slot). The node hashes, so that this package needs no
    // library for it.
    const place = await node.call(word, 'web3_sha3', `0x${padded}${toWord(slot).slice(2)}`);
    const read = (): Promise<bigint> => node.call(quantity, 'eth_getStorageAt', token, place, 'latest');
    if (balance > 0n && (await read()) === balance) {
      return {
        read,
        write: async (units) => void (await node.call(z.unknown(), 'anvil_setStorageAt', token, place, toWord(units))),
      };
    }
  }
  throw new ControlError(`The payer has no balance at ${token} that could be taken away for a moment`);
}
