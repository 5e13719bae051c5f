/** Whose error codes a node uses: the same number means different things. */
export type ErrorDialect = 'evm' | 'solana';

/**
 * What an error of a node means for the one that asked.
 * - `answer`: the chain's own answer, which every node would give.
 * - `claim`: the chain's answer where a second upstream gives it too, if there is one: the first may lag, or refuse the
 *   call for a reason of its own.
 * - `elsewhere`: this node cannot tell now: it lags, has pruned the state, or is in trouble.
 * - `later`: the plan's calls are spent; another upstream may have some left.
 * - `limit`: the plan refuses requests of this shape: a shorter range, batch or list may pass.
 * - `unsupported`: it does not have the method.
 */
export type ErrorClass = 'answer' | 'claim' | 'elsewhere' | 'later' | 'limit' | 'unsupported';

/** An error as a node reports it, in a response of this HTTP status. */
export interface NodeError {
  readonly code: number;
  readonly message: string;
  readonly status: number;
}

/** The errors with one of these codes (any, without), this text and this status. */
export interface ErrorRule {
  readonly dialect?: ErrorDialect;
  readonly codes?: readonly number[];
  readonly text?: RegExp;
  readonly statuses?: readonly number[];
  readonly is: ErrorClass;
  /** Who sends it. */
  readonly source: string;
}

const RATE =
  /rate.?limit|too many requests|\b429\b|requests? (?:per|\/) ?second|\/second|exceeded .*(?:rate|compute units)/i;
const RANGE = new RegExp(
  [
    '(?:block|max|query) range',
    'range (?:\\d+ exceeds|is too)',
    'ranges over',
    'limited to a \\d+ range',
    'limit the query',
    'at most \\d+ blocks',
    'more than \\d+ (?:results|logs)',
    'max(?:imum)? results',
    'response (?:size|is too)',
  ].join('|'),
  'i',
);
/** The node does not have that block or state. */
const BEHIND = new RegExp(
  [
    'beyond current head',
    'head block',
    'unknown block',
    'header not found',
    '(?:block|state) .*not (?:found|available)',
    'missing trie',
  ].join('|'),
  'i',
);
/** The plan does not have the method. */
const PAID_ONLY = /(?:not|only) available (?:on|for|in|with)\b|included in your|\bpaid\b|upgrade/i;
/** As RANGE, or the addresses, topics or age of what is asked for. */
const SHAPE = new RegExp(
  `${RANGE.source}|archive|blocked parameter|specify an address|addresses or topics|filters`,
  'i',
);

/**
 * The errors that nodes and providers send, by dialect, code, text and HTTP status. The first rule that fits counts;
 * docs/internals/chains.md says how they are used. An error that none fits is of the node, as are those of the last
 * rows: a payment is never refused for a reason that we do not know.
 */
export const ERROR_RULES: readonly ErrorRule[] = [
  // What a plan has left does not depend on the call: before the texts of the chain.
  { codes: [429, -32429], is: 'later', source: 'Alchemy, the public endpoints of Solana; Helius' },
  { statuses: [429], is: 'later', source: 'every provider' },
  { statuses: [402], is: 'later', source: 'Infura (daily quota), Tempo API' },
  {
    codes: [-32017],
    is: 'later',
    source: 'Base (proxyd): the sender is over its rate limit, at one sequencer for all',
  },
  { codes: [-32029], is: 'later', source: 'BlockPI, Blast' },
  {
    codes: [-32014, 31],
    dialect: 'evm',
    is: 'limit',
    source: 'Base (proxyd), dRPC free: batches',
  },
  { codes: [-32403], is: 'limit', source: 'Helius free: batches' },

  { codes: [-32601], is: 'unsupported', source: 'JSON-RPC 2.0' },
  { statuses: [405, 415], is: 'unsupported', source: 'gateways that route calls by their method' },

  // EVM. The text of a failed execution counts whatever its code: graph-node and eRPC do the same.
  {
    dialect: 'evm',
    text: /revert|out ?of ?gas|EVM error/i,
    is: 'answer',
    source: 'every client: a failed execution, also as an internal error',
  },
  { dialect: 'evm', codes: [3], text: /unknown block/i, is: 'elsewhere', source: 'Alchemy: its node lags' },
  { dialect: 'evm', codes: [3, -32015], is: 'answer', source: 'geth, OpenEthereum: a failed execution' },
  {
    dialect: 'evm',
    codes: [-32005],
    text: SHAPE,
    is: 'limit',
    source: 'Infura, CDP: too many blocks or results',
  },
  { dialect: 'evm', codes: [-32005], is: 'later', source: 'Infura: calls a second' },
  { dialect: 'evm', codes: [-32007, -32009], is: 'later', source: 'QuickNode: calls a second' },
  { dialect: 'evm', codes: [-32016], is: 'later', source: 'Base (proxyd): over the rate limit' },
  { dialect: 'evm', codes: [10, 15], is: 'later', source: 'dRPC: balance spent, public limit' },
  { dialect: 'evm', codes: [35, -32614, -32701], is: 'limit', source: 'dRPC, Base and QuickNode, publicnode: ranges' },
  {
    dialect: 'evm',
    codes: [-32600],
    text: /capacity|quota/i,
    is: 'later',
    source: 'Alchemy: the month’s capacity is spent',
  },
  { dialect: 'evm', codes: [-32600], text: RANGE, is: 'limit', source: 'Alchemy free, Ankr: ranges' },
  { dialect: 'evm', codes: [-32600], text: /batch/i, is: 'limit', source: 'Ankr: batches' },
  {
    dialect: 'evm',
    codes: [-32600],
    text: PAID_ONLY,
    is: 'unsupported',
    source: 'Alchemy, and in the table of eRPC: methods of other plans',
  },
  { dialect: 'evm', codes: [-32008], is: 'limit', source: 'reth (Tempo): responses of a batch or a call' },
  {
    dialect: 'evm',
    codes: [-32602, -32000],
    text: BEHIND,
    is: 'elsewhere',
    source: 'geth, reth, op-geth behind a balancer: the node lags or has pruned it',
  },
  {
    dialect: 'evm',
    codes: [-32602, -32000],
    text: SHAPE,
    is: 'limit',
    source: 'Infura, Alchemy, publicnode, reth, geth: ranges, results, address lists, history',
  },
  { dialect: 'evm', codes: [-32000], text: RATE, is: 'later', source: 'Base: the sequencer’s 429, wrapped' },
  {
    dialect: 'evm',
    codes: [-32000],
    text: /timed? ?out|deadline|unavailable|no backend|connection|internal error/i,
    is: 'elsewhere',
    source: 'geth, proxyd',
  },
  { dialect: 'evm', codes: [-32000, -32003, -32010], is: 'answer', source: 'geth, reth, Nethermind' },
  {
    dialect: 'evm',
    codes: [-32602],
    is: 'claim',
    source: 'JSON-RPC 2.0: invalid parameters; also nodes that lag and plans, in words that we do not know',
  },
  { dialect: 'evm', codes: [-32011], is: 'elsewhere', source: 'Base (proxyd): none of its nodes is healthy' },
  { dialect: 'evm', codes: [19, 30], is: 'elsewhere', source: 'dRPC: internal error, time-out' },

  // Solana.
  { dialect: 'solana', codes: [-32005], is: 'elsewhere', source: 'Agave: the node is behind' },
  {
    dialect: 'solana',
    codes: [-32007, -32009],
    text: RATE,
    is: 'later',
    source: 'QuickNode: calls a second',
  },
  {
    dialect: 'solana',
    codes: [-32004, -32007, -32008, -32009, -32011, -32012, -32014, -32016],
    is: 'elsewhere',
    source: 'Agave: not on this node: block, slot, history, snapshot, or minimum context',
  },
  { dialect: 'solana', codes: [-32010], is: 'limit', source: 'Agave: excluded from the secondary indexes' },
  {
    dialect: 'solana',
    codes: [-32002, -32003, -32006, -32013, -32015, -32602],
    is: 'answer',
    source: 'Agave: preflight, signatures, the version of a transaction, parameters',
  },

  { codes: [-32603], is: 'elsewhere', source: 'JSON-RPC 2.0: internal error' },
  { statuses: [408, 500, 502, 503, 504], is: 'elsewhere', source: 'every provider and balancer' },
];

/** What an error means: see ErrorClass. */
export const classOf = (dialect: ErrorDialect, error: NodeError): ErrorClass =>
  ruleOf(dialect, error)?.is ?? 'elsewhere';

/** The first rule that fits. */
export const ruleOf = (dialect: ErrorDialect, { code, message, status }: NodeError): ErrorRule | undefined =>
  ERROR_RULES.find(
    (rule) =>
      (rule.dialect === undefined || rule.dialect === dialect) &&
      (rule.codes?.includes(code) ?? true) &&
      (rule.text?.test(message) ?? true) &&
      (rule.statuses?.includes(status) ?? true),
  );
