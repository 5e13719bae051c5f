import { refusable, type RpcNode, RpcRefusedError } from '@pf/rpc';
import { AbiCoder } from 'ethers/abi';
import type { Token } from '../networks.ts';
import type { TokenFacts } from '../token-facts.ts';
import { isBlacklisted } from './account.ts';
import { callContract, DECIMALS, NO_ACCOUNT } from './calls.ts';

/** `symbol()` of ERC-20; `currency()` of Circle's tokens, TIP-20 and B20. */
const [SYMBOL, CURRENCY] = ['0x95d89b41', '0xe5a6b10f'];
/** `paused()` of Circle's tokens and TIP-20; `isPaused(TRANSFER)` of B20. */
const [PAUSED, TRANSFERS_PAUSED] = ['0x5c975abb', `0xbc61e733${'0'.repeat(64)}`];
const QUESTIONS = [SYMBOL, DECIMALS, CURRENCY, PAUSED, TRANSFERS_PAUSED, isBlacklisted(NO_ACCOUNT)] as const;

/** A contract without the function reverts, or answers with nothing or with something else. */
function answered<T>(answer: string | RpcRefusedError | undefined, type: 'string' | 'uint8' | 'bool'): T | null {
  if (answer === undefined || answer instanceof RpcRefusedError) return null;
  try {
    const [value] = AbiCoder.defaultAbiCoder().decode([type], answer) as unknown as [T];
    return value;
  } catch {
    return null;
  }
}

/** What the contracts of tokens say of themselves; null of one that is not there. */
export async function factsOfTokens(node: RpcNode, tokens: readonly Token[]): Promise<readonly (TokenFacts | null)[]> {
  const answers = await node.batch(
    tokens.flatMap(({ address }) =>
      QUESTIONS.map((data) => refusable(callContract({ from: NO_ACCOUNT, to: address, data }))),
    ),
  );
  return tokens.map((_, place) => {
    const [symbol, decimals, currency, paused, transfersPaused, blacklisted] = answers.slice(
      place * QUESTIONS.length,
      (place + 1) * QUESTIONS.length,
    );
    const name = answered<string>(symbol, 'string');
    const count = answered<bigint>(decimals, 'uint8');
    if (name === null && count === null) return null;
    return {
      symbol: name,
      decimals: count === null ? null : Number(count),
      currency: answered<string>(currency, 'string'),
      isPaused: answered<boolean>(paused, 'bool') ?? answered<boolean>(transfersPaused, 'bool'),
      program: null,
      blocklist: answered<boolean>(blacklisted, 'bool') === null ? null : 'isBlacklisted',
      obstacle: null,
    };
  });
}
