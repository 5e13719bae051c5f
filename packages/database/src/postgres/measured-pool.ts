import {
  errorTypeOf,
  inSpan,
  isRecordingSpan,
  registerGauge,
  recordDuration,
  resumed,
  type MetricLabels,
  SpanKind,
} from '@pf/runtime';
import type pg from 'pg';

type Operation = MetricLabels<'db.client.operation.duration'>['db.operation.name'];
const OPERATIONS: ReadonlySet<string> = new Set<Operation>([
  'SELECT',
  'INSERT',
  'UPDATE',
  'DELETE',
  'WITH',
  'BEGIN',
  'COMMIT',
  'ROLLBACK',
]);
/** Statements vary at run time (pages, unnests): this many of their descriptions are cached. */
const CACHED_DESCRIPTIONS = 500;
/** The longest statement is some 4 KB; the beginning says which it is. */
const TEXT_SHOWN = 300;

interface Described {
  readonly operation: Operation;
  /** `SELECT ledger.intents`: of few different values, as the names of spans should be. */
  readonly summary: string;
}
const described = new Map<string, Described>();

function describe(text: string): Described {
  const known = described.get(text);
  if (known) return known;
  const verb = /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? '';
  const operation = OPERATIONS.has(verb) ? (verb as Operation) : 'OTHER';
  const table = /\b(?:FROM|INTO|UPDATE)\s+"?((?:dashboard|ledger|service)"?\."?\w+)/i
    .exec(text)?.[1]
    ?.replaceAll('"', '');
  const made = { operation, summary: table === undefined ? operation : `${operation} ${table}` };
  if (described.size < CACHED_DESCRIPTIONS) described.set(text, made);
  return made;
}

/** The first argument of query() is a text, or an object with one. */
export const textOf = (statement: unknown): string =>
  typeof statement === 'string' ? statement : ((statement as { text?: string } | undefined)?.text ?? '');

/**
 * Measures a statement, and runs it in a span if its trace is kept. The span has the statement's text, never its
 * values.
 */
async function measured<Result>(text: string, namespace: string, run: () => Promise<Result>): Promise<Result> {
  const { operation, summary } = describe(text);
  const began = performance.now();
  const about = { 'db.system.name': 'postgresql', 'db.operation.name': operation } as const;
  let failure: unknown;
  try {
    if (!isRecordingSpan()) return await run();
    const attributes = {
      ...about,
      'db.namespace': namespace,
      'db.query.summary': summary,
      'db.query.text': text.replaceAll(/\s+/g, ' ').trim().slice(0, TEXT_SHOWN),
    };
    return await inSpan(summary, null, run, { kind: SpanKind.CLIENT, attributes });
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    resumed();
    recordDuration('db.client.operation.duration', began, {
      ...about,
      ...(failure !== undefined && { 'error.type': errorTypeOf(failure) }),
    });
  }
}

export type Query = (...parameters: unknown[]) => Promise<unknown>;
export const isCallback = (parameter: unknown): boolean => typeof parameter === 'function';

/**
 * Measures the statements of `target`. The library's own calls, with callbacks, are part of another statement.
 */
function measureQueries(target: pg.Pool | pg.PoolClient, namespace: string): void {
  const query = target.query.bind(target) as Query;
  const measuredQuery: Query = (...parameters) =>
    parameters.some(isCallback)
      ? query(...parameters)
      : measured(textOf(parameters[0]), namespace, () => query(...parameters));
  Object.assign(target, { query: measuredQuery });
}

/**
 * Measures a pool: every statement, and how many connections there are.
 * @returns removes the gauges of the connections
 */
export function measurePool(pool: pg.Pool, namespace: string): () => void {
  measureQueries(pool, namespace);
  pool.on('connect', (client) => measureQueries(client, namespace));
  const unregister = [
    registerGauge('db.client.connection.count', () => [
      [pool.idleCount, { 'db.client.connection.state': 'idle' }],
      [pool.totalCount - pool.idleCount, { 'db.client.connection.state': 'used' }],
    ]),
    registerGauge('db.client.connection.pending_requests', () => [[pool.waitingCount, {}]]),
  ];
  return () => {
    for (const end of unregister) end();
  };
}
