import { describe, expect, it } from '@jest/globals';
import {
  classOf,
  ERROR_RULES,
  ruleOf,
  type ErrorClass,
  type ErrorDialect,
  type NodeError,
} from '../src/error-classes.ts';

type Example = readonly [ErrorDialect, Partial<NodeError> & { readonly message: string }, ErrorClass];

/** Words that were seen, each with its meaning: at least one for each rule. */
const EXAMPLES: readonly Example[] = [
  ['evm', { code: 429, message: 'Your app has exceeded its compute units per second capacity' }, 'later'],
  ['solana', { code: 429, message: 'Too many requests for a specific RPC call' }, 'later'],
  ['solana', { code: -32429, message: 'rate limited' }, 'later'],
  ['evm', { code: -32005, status: 429, message: 'project ID request rate exceeded' }, 'later'],
  ['evm', { code: 402, status: 402, message: 'daily request count exceeded' }, 'later'],
  ['evm', { code: -32017, message: 'sender is over rate limit' }, 'later'],
  ['evm', { code: -32029, message: 'too many requests' }, 'later'],
  ['evm', { code: -32014, message: 'too many RPC calls in batch request' }, 'limit'],
  ['evm', { code: 31, status: 500, message: 'Batch of more than 3 requests are not allowed on free tier' }, 'limit'],
  ['solana', { code: -32403, status: 403, message: 'Batch requests are only available for paid plans' }, 'limit'],
  ['evm', { code: -32603, message: 'execution reverted: paused' }, 'answer'],
  ['evm', { code: 3, message: 'Unknown block' }, 'elsewhere'],
  ['evm', { code: 3, message: 'ERC20: transfer amount exceeds balance' }, 'answer'],
  ['evm', { code: -32015, message: 'VM execution error' }, 'answer'],
  ['evm', { code: -32005, message: 'query returned more than 10000 results' }, 'limit'],
  ['evm', { code: -32005, message: 'please limit the query to at most 1000 blocks' }, 'limit'],
  ['evm', { code: -32005, message: 'daily request count exceeded' }, 'later'],
  ['evm', { code: -32007, message: '50/second request limit reached' }, 'later'],
  ['evm', { code: -32009, message: '50/second request limit reached' }, 'later'],
  ['evm', { code: -32016, message: 'over rate limit' }, 'later'],
  ['evm', { code: 15, message: 'Public endpoint rate limit' }, 'later'],
  ['evm', { code: 35, status: 400, message: 'ranges over 10000 blocks are not supported on free plan' }, 'limit'],
  ['evm', { code: -32614, status: 413, message: 'eth_getLogs is limited to a 500 range' }, 'limit'],
  ['evm', { code: -32701, message: 'exceed maximum block range: 50000' }, 'limit'],
  ['evm', { code: -32600, status: 403, message: 'Monthly capacity limit exceeded.' }, 'later'],
  ['evm', { code: -32600, status: 400, message: 'with up to a 10 block range. This should work: [0x1, 0xa]' }, 'limit'],
  ['evm', { code: -32600, message: 'batch size is too large' }, 'limit'],
  ['evm', { code: -32008, message: 'Response is too big' }, 'limit'],
  ['evm', { code: -32600, message: 'trace_block is not available on the Free tier - upgrade to PAYG' }, 'unsupported'],
  ['evm', { code: -32600, message: 'debug_traceCall is not included in your current plan' }, 'unsupported'],
  ['evm', { code: -32600, message: 'Must be authenticated!' }, 'elsewhere'],
  ['evm', { code: -32602, message: 'block range extends beyond current head block' }, 'elsewhere'],
  ['evm', { code: -32000, message: 'header not found' }, 'elsewhere'],
  ['evm', { code: -32000, message: 'missing trie node 1f2e' }, 'elsewhere'],
  ['evm', { code: -32000, message: 'finalized block not found' }, 'elsewhere'],
  ['evm', { code: -32602, message: 'range 1000000 exceeds limit of 10000' }, 'limit'],
  ['evm', { code: -32602, status: 403, message: 'Archive requests require a personal token' }, 'limit'],
  ['evm', { code: -32602, message: 'Request blocked. Details: blocked parameter: params.0.address.#' }, 'limit'],
  ['evm', { code: -32000, message: 'failed to forward: 429 Too Many Requests' }, 'later'],
  ['evm', { code: -32000, message: 'context deadline exceeded' }, 'elsewhere'],
  ['evm', { code: -32000, message: 'nonce too low' }, 'answer'],
  ['evm', { code: -32000, message: 'insufficient funds for gas * price + value' }, 'answer'],
  ['evm', { code: -32003, message: 'transaction underpriced' }, 'answer'],
  ['evm', { code: -32011, status: 503, message: 'no backend is currently healthy to serve traffic' }, 'elsewhere'],
  ['evm', { code: -32601, message: 'the method does not exist' }, 'unsupported'],
  ['evm', { code: -32600, status: 405, message: 'method not allowed' }, 'unsupported'],
  ['solana', { code: -32600, status: 415, message: 'unsupported media type' }, 'unsupported'],
  ['evm', { code: -32602, message: 'invalid argument 0: json: cannot unmarshal' }, 'claim'],
  ['evm', { code: -32602, message: 'block is out of range' }, 'claim'],
  ['evm', { code: 19, status: 500, message: 'Temporary internal error. Please retry' }, 'elsewhere'],
  ['evm', { code: 30, status: 408, message: 'Request timeout on the free tier, please upgrade' }, 'elsewhere'],
  ['evm', { code: -32603, message: 'internal error' }, 'elsewhere'],
  ['solana', { code: 0, status: 503, message: 'upstream connect error' }, 'elsewhere'],
  ['solana', { code: -32005, message: 'Node is behind by 150 slots' }, 'elsewhere'],
  ['solana', { code: -32007, message: '15/second request limit reached' }, 'later'],
  ['solana', { code: -32007, message: 'Slot 7 was skipped, or missing due to ledger jump' }, 'elsewhere'],
  ['solana', { code: -32016, message: 'Minimum context slot has not been reached' }, 'elsewhere'],
  ['solana', { code: -32010, message: 'excluded from account secondary indexes' }, 'limit'],
  ['solana', { code: -32002, message: 'Transaction simulation failed: Blockhash not found' }, 'answer'],
  ['solana', { code: -32015, message: 'Transaction version (0) is not supported' }, 'answer'],
  ['solana', { code: -32603, message: 'Internal error' }, 'elsewhere'],
];

const errorOf = ({ code = 0, message, status = 200 }: Example[1]): NodeError => ({ code, message, status });

describe('the table of errors', () => {
  it.each(EXAMPLES)('says of %s what %p means: %s', (dialect, error, is) => {
    expect(classOf(dialect, errorOf(error))).toBe(is);
  });

  it('has an example here of each of its rules', () => {
    const without = ERROR_RULES.filter(
      (rule) => !EXAMPLES.some(([dialect, error]) => ruleOf(dialect, errorOf(error)) === rule),
    );
    expect(without).toEqual([]);
  });
});
