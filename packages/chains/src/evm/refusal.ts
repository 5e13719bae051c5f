import type { RpcRefusedError } from '@pf/rpc';
import { AbiCoder } from 'ethers/abi';

const ERROR_STRING = '0x08c379a0';

/** Why a node refused a call or an estimate, with the contract's reason where it gave one. */
export function reasonOf({ message, data }: RpcRefusedError): string {
  if (typeof data !== 'string' || !/^0x[0-9a-f]{8,}$/i.test(data)) return message;
  if (!data.startsWith(ERROR_STRING)) return `${message} (${data.slice(0, 10)})`;
  try {
    const [text] = AbiCoder.defaultAbiCoder().decode(['string'], `0x${data.slice(10)}`) as unknown as [string];
    return message.includes(text) ? message : `${message}: ${text}`;
  } catch {
    // Not ABI-encoded: only the node's message remains.
    return message;
  }
}
