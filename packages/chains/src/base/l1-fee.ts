import type { RpcNode } from '@pf/rpc';
import { callContract } from '../evm/calls.ts';

/** The OP stack's oracle of the fee for putting a transaction's bytes on L1 (`getL1Fee(bytes)`). */
const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F';
const GET_L1_FEE = '0x49948e0e';

/** Wei for a transaction's data on L1; 0 on a chain that has no such contract. @param bytes the data, as 0x hex */
export async function getL1Fee(node: RpcNode, from: string, bytes: string): Promise<bigint> {
  const body = bytes.slice(2);
  const length = body.length / 2;
  const word = (value: number): string => value.toString(16).padStart(64, '0');
  const data = `${GET_L1_FEE}${word(32)}${word(length)}${body.padEnd(Math.ceil(length / 32) * 64, '0')}`;
  const fee = await node.call(callContract({ from, to: GAS_PRICE_ORACLE, data }));
  return fee === '0x' ? 0n : BigInt(fee);
}
