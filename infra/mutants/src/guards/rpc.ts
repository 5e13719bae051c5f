import type { Mutant } from '../mutant.ts';

/** Guards of the calls to RPC upstreams. */
export const rpcGuards: readonly Mutant[] = [
  {
    name: 'A few requests that take long do not lengthen the wait for others',
    file: 'packages/rpc/src/patience.ts',
    guard: '[Math.floor(times.length / 4)]',
    instead: '[times.length - 1]',
    test: {
      file: 'packages/rpc/test/patience.unit.test.ts',
      name: 'is not stretched by a few that take long',
    },
  },
  {
    name: 'Traces that strangers make slow do not lengthen the wait for traces without bound',
    file: 'packages/rpc/src/patience.ts',
    guard: 'isVarying ? Math.min(learned, VARYING_MS) : learned',
    instead: 'learned',
    test: {
      file: 'packages/rpc/test/patience.unit.test.ts',
      name: 'is bounded where what is asked for decides how long it takes, and that says nothing of other requests',
    },
  },
  {
    name: 'A request that shall cost little time ends before others would',
    file: 'packages/rpc/src/transport.ts',
    guard: 'Math.max(...requests.map(({ withinMs = timeoutMs }) => withinMs))',
    instead: 'Math.max(timeoutMs, ...requests.map(({ withinMs = timeoutMs }) => withinMs))',
    test: {
      file: 'packages/rpc/test/patience.unit.test.ts',
      name: 'follows its calls where each has one, and never exceeds that of any request',
    },
  },
  {
    name: 'What came too late is not used',
    file: 'packages/chains/src/late-reads.ts',
    guard: 'if (this.#now() - begunAt >= FRESH_MS) continue;',
    instead: '',
    test: {
      file: 'packages/chains/test/late-reads.unit.test.ts',
      name: 'bring nothing of one that began a minute ago, which is read again',
    },
  },
  {
    name: 'What has taken as long as it may beside the steps is used',
    file: 'packages/chains/src/late-reads.ts',
    guard: 'const FRESH_MS = 2 * STEP_MS;',
    instead: 'const FRESH_MS = STEP_MS;',
    test: {
      file: 'packages/chains/test/late-reads.unit.test.ts',
      name: 'bring what has taken as long as it may, and has waited for the end of a step that did',
    },
  },
  {
    name: 'A request of which a step waits for a moment only does not count as a failure of its upstream',
    file: 'packages/rpc/src/measured.ts',
    guard: "isSoon && fault === 'timeout' ? 'late' : fault",
    instead: 'fault',
    test: {
      file: 'packages/rpc/test/patience.unit.test.ts',
      name: 'ends a request that shall cost little time, which is no failure of its upstream',
    },
  },
  {
    name: 'Beside the steps two transactions are read at a time',
    file: 'packages/chains/src/late-reads.ts',
    guard: 'if (this.room === 0 || this.#reads.has(hash)) return false;',
    instead: 'if (this.#reads.has(hash)) return false;',
    test: { file: 'packages/chains/test/late-reads.unit.test.ts', name: 'are two at a time, each once' },
  },
  {
    name: 'Of a throttled batch only what was refused is asked again',
    file: 'packages/rpc/src/node.ts',
    guard: 'open = left;',
    instead: 'if (!outcomes.includes(undefined)) open = open.slice(outcomes.length);',
    test: {
      file: 'packages/rpc/test/pacing.unit.test.ts',
      name: 'lets a batch of 60 calls pass on a plan of 45 a second: only what was refused is asked again',
    },
  },
  {
    name: 'Reads never hold back a broadcast, nor broadcasts a read',
    file: 'packages/rpc/src/node.ts',
    guard: 'all.some(({ method }) => SENDS.has(method)) ? this.sends : this.reads',
    instead: 'all.some(({ method }) => SENDS.has(method)) ? this.reads : this.reads',
    test: {
      file: 'packages/rpc/test/pacing.unit.test.ts',
      name: 'limits reads and broadcasts separately',
    },
  },
  {
    name: 'A refusal because of the number of calls opens no circuit',
    file: 'packages/rpc/src/pool.ts',
    guard: "if (error.fault === 'throttled') {",
    instead: "if (error.fault === 'throttled' && upstream.isOpen) {",
    test: {
      file: 'packages/rpc/test/pacing.unit.test.ts',
      name: 'leaves an upstream that refuses broadcasts the first to be read from',
    },
  },
  {
    name: 'An upstream is left alone for as long as it asks',
    file: 'packages/rpc/src/pace.ts',
    guard: 'askedMs === null ? PAUSE_MIN_MS * 2 ** (this.#refusals - 1) : Math.max(askedMs, PAUSE_MIN_MS);',
    instead: 'PAUSE_MIN_MS * 2 ** (this.#refusals - 1);',
    test: {
      file: 'packages/rpc/test/pacing.unit.test.ts',
      name: 'waits as long as the only upstream asks for, by Retry-After, and then asks once more',
    },
  },
  {
    name: 'A compressed response has a bound once it is decoded',
    file: 'packages/rpc/src/body.ts',
    guard: 'new JsonPieces(reading, reading.readElement)',
    instead: 'new JsonPieces({ maxBytes: Infinity, maxKeptBytes: Infinity }, reading.readElement)',
    test: {
      file: 'packages/rpc/test/compression.unit.test.ts',
      name: 'are rejected when they are longer than 8 MiB once decoded',
    },
  },
  {
    name: 'The elements of a long list are read as they arrive, and not kept',
    file: 'packages/rpc/src/json-pieces.ts',
    guard: 'const isRead = this.#read !== null',
    instead: 'const isRead = this.#read === undefined',
    test: {
      file: 'packages/rpc/test/json-pieces.unit.test.ts',
      name: 'is read element by element, whatever its length',
    },
  },
  {
    name: 'What a node writes may have many values, but not without end',
    file: 'packages/rpc/src/json-pieces.ts',
    guard: 'this.#keptValues > VALUES_MAX',
    instead: 'this.#keptValues < 0',
    test: {
      file: 'packages/rpc/test/json-pieces.unit.test.ts',
      name: 'is broken off where it has objects without end',
    },
  },
  {
    name: 'A call without a bound does not lift that of another in its request',
    file: 'packages/rpc/src/transport.ts',
    guard: '(one.readElement === undefined ? [] : LIST_MAX_BYTES)',
    instead: '(one.readElement === undefined ? RESPONSE_MAX_BYTES : LIST_MAX_BYTES)',
    test: {
      file: 'packages/rpc/test/compression.unit.test.ts',
      name: 'are broken off when those of a batch are longer than one of its calls allows, whatever the others',
    },
  },
  {
    name: 'No more calls a second than the plan has',
    file: 'packages/rpc/src/pace.ts',
    guard: 'if (turn > now) {',
    instead: 'if (turn > now + 500) {',
    test: {
      file: 'packages/rpc/test/pace.unit.test.ts',
      name: 'counts calls by their credits where a plan has a budget of them',
    },
  },
  {
    name: 'Methods that an upstream lacks are not asked there',
    file: 'packages/rpc/src/node.ts',
    guard: 'if (lacking !== undefined)',
    instead: "if (lacking === '')",
    test: {
      file: 'packages/rpc/test/plans.unit.test.ts',
      name: 'keeps calls of methods that it lacks away from it',
    },
  },
  {
    name: 'A single odd error does not hide a method of an upstream for an hour',
    file: 'packages/rpc/src/lack.ts',
    guard: 'this.#ms = isForgotten ? FIRST_MS : Math.min(this.#ms * 2, LEARNED_MS);',
    instead: 'this.#ms = isForgotten ? LEARNED_MS : Math.min(this.#ms * 2, LEARNED_MS);',
    test: {
      file: 'packages/rpc/test/lack.unit.test.ts',
      name: 'is known for a minute at first: behind one URL a single node may have responded so',
    },
  },
  {
    name: 'An upstream that lacks what a conclusion needs is not waited for, once that is certain',
    file: 'packages/rpc/src/upstream.ts',
    guard: '!isLongDown && !this.#lack.isLasting(now)',
    instead: '!isLongDown && !this.#lack.isKnown(now)',
    test: {
      file: 'packages/rpc/test/plans.unit.test.ts',
      name: 'is not waited for where it lacks again and again what a conclusion needs',
    },
  },
  {
    name: 'Solana: a page with fewer transactions than requested does not end a list',
    file: 'packages/chains/src/solana/observe/paging.ts',
    guard: 'page.length < limit : page.length === 1;',
    instead: 'page.length < limit : page.length < LONG_PAGE;',
    test: {
      file: 'packages/chains/test/solana/lists.unit.test.ts',
      name: 'continues after a page that is shorter than requested: providers may list fewer',
    },
  },
  {
    name: 'No more broadcasts a second than the plan has',
    file: 'packages/rpc/src/node.ts',
    guard: 'const isUrgent = work.isUrgent && pace !== this.sends;',
    instead: 'const { isUrgent } = work;',
    test: {
      file: 'packages/rpc/test/pacing.unit.test.ts',
      name: 'lets broadcasts take turns among themselves, urgent as they are',
    },
  },
  {
    name: 'A broadcast is not repeated where its response is unusable',
    file: 'packages/rpc/src/node.ts',
    guard: 'let repeats = pace === this.sends || currentWork()?.canMoveOn === true ? 0 : REPEATS_MAX;',
    instead: 'let repeats = currentWork()?.canMoveOn === true ? 0 : REPEATS_MAX;',
    test: {
      file: 'packages/rpc/test/batches.unit.test.ts',
      name: 'ask for a broadcast once, whatever comes',
    },
  },
  {
    name: 'The time that a piece of work has does not bind what it has left behind',
    file: 'packages/rpc/src/work.ts',
    guard: 'current === undefined || current.isOver',
    instead: 'current === undefined',
    test: {
      file: 'packages/rpc/test/pacing.unit.test.ts',
      name: 'does not rush calls that finished work started without awaiting',
    },
  },
  {
    name: 'Solana: reads that are throttled hold back no broadcast',
    file: 'packages/chains/src/solana/broadcast.ts',
    guard: "if (error instanceof RpcUpstreamError && error.fault === 'throttled') return null;",
    instead: '',
    test: {
      file: 'packages/chains/test/solana/broadcast.unit.test.ts',
      name: 'is not held back where the plan has no reads left',
    },
  },
  {
    name: 'The configuration of upstreams is quoted in no message',
    file: 'packages/chains/src/upstreams.ts',
    guard: "return fail('must be JSON, or the path of a JSON file that can be read (docs/operations/providers.md)');",
    instead: 'return fail(`must be JSON, or the path of a JSON file that can be read: ${text}`);',
    test: {
      file: 'packages/chains/test/upstreams.unit.test.ts',
      name: 'quotes nothing of what cannot be read',
    },
  },
  {
    name: 'A third upstream is asked where the second does not know',
    file: 'packages/rpc/src/pool.ts',
    guard: 'if (!lacks(attempt.value)) return attempt.value;',
    instead: 'return attempt.value;',
    test: { file: 'packages/rpc/test/pool.unit.test.ts', name: 'asks the third, and not the first again' },
  },
  {
    name: 'Solana: an empty page ends a list only at a node that knows where it begins',
    file: 'packages/chains/src/solana/observe/paging.ts',
    guard: 'page[0]?.signature === paging.last',
    instead: 'page.length >= 0',
    test: {
      file: 'packages/chains/test/solana/lists.unit.test.ts',
      name: 'restarts from the newest entry when a node that does not know the cursor returns an empty page',
    },
  },
  {
    name: 'Base: a used nonce refuses a submission only at a node that has the block that used it',
    file: 'packages/chains/src/base/landable.ts',
    guard: 'if (count <= nonce) throw new RpcBehindError(`${node.name} lags: it had a newer block before`);',
    instead: '',
    test: {
      file: 'packages/chains/test/base/landable.unit.test.ts',
      name: 'concludes nothing about a used nonce from a node that lags behind the one before',
    },
  },
];
