import { decodeFunctionData, getAddress, type Hex, parseAbi } from 'viem';
import { callsIn, type Frame } from '../evm/traced.ts';

/** What tokens can be told. */
export const tip20 = parseAbi([
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
export const ZERO = getAddress(`0x${'00'.repeat(20)}`);

/** What a call has told a token to move with a memo. */
export interface Order {
  readonly token: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly amount: bigint;
  readonly memo: Hex;
}

/** What these tokens were told to move with a memo, by calls of which none was undone, in their order. */
export const ordersIn = (trace: Frame, tokens: readonly Hex[]): readonly Order[] =>
  callsIn(trace).flatMap(({ from, to, input }) => {
    const token = tokens.find((one) => one.toLowerCase() === to?.toLowerCase());
    return token === undefined ? [] : ordersOf(token, getAddress(from), input);
  });

function ordersOf(token: Hex, caller: Hex, input: Hex): readonly Order[] {
  const { functionName, args } = decodeFunctionData({ abi: tip20, data: input });
  switch (functionName) {
    case 'transferWithMemo':
      return [{ token, from: caller, to: getAddress(args[0]), amount: args[1], memo: args[2] }];
    case 'transferFromWithMemo':
      return [{ token, from: getAddress(args[0]), to: getAddress(args[1]), amount: args[2], memo: args[3] }];
    case 'mintWithMemo':
      return [{ token, from: ZERO, to: getAddress(args[0]), amount: args[1], memo: args[2] }];
    case 'burnWithMemo':
      return [{ token, from: caller, to: ZERO, amount: args[0], memo: args[1] }];
    case 'approve':
    case 'balanceOf':
    case 'burn':
    case 'grantRole':
    case 'mint':
    case 'transfer':
    case 'transferFrom':
      return [];
  }
}
