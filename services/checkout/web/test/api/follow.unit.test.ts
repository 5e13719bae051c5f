import { describe, expect, it } from '@jest/globals';
import { type Connection, follow } from '../../src/api/follow.ts';
import type { Intent } from '../../src/api/schemas.ts';
import { terms } from '../../../../../packages/chains/test/base/payments.ts';
import { intentOf } from '../check/intents.ts';

const intentIn = (state: Intent['state']): Intent => intentOf(terms, { state });
const message = (id: number, event: string, data: object): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const snapshot = (id: number, state: Intent['state']): string => message(id, 'snapshot', { intent: intentIn(state) });
const changed = (id: number, state: Intent['state']): string =>
  message(id, `intent.${state}`, { type: `intent.${state}`, data: { intent: intentIn(state) } });
/** Chunks cut anywhere, as networks do. */
const inChunks = (text: string): Response =>
  new Response(new Blob([text]).stream(), { headers: { 'content-type': 'text/event-stream' } });

/** Follows until the intent has ended. Each stream is an answer in turn; what is left is refused. */
async function followed(
  streams: readonly (() => Response)[],
  fetched: Intent['state'] = 'failed',
  isWaiting: () => boolean = () => false,
) {
  const seen: string[] = [];
  const connections: Connection[] = [];
  const resumedAfter: (string | null)[] = [];
  const ended = new AbortController();
  await follow(
    {
      openStream: async (after) => {
        const stream = streams[resumedAfter.length];
        resumedAfter.push(after);
        if (stream === undefined) throw new TypeError('no connection');
        return stream();
      },
      fetchIntent: async () => ({ intent: intentIn(fetched) }),
    },
    {
      onIntent: ({ state }) => void seen.push(state),
      onEvent: () => undefined,
      onConnection: (connection) => void connections.push(connection),
      isWaiting,
    },
    ended.signal,
  );
  return { seen, connections, resumedAfter };
}

describe('following a payment', () => {
  it('ends with the intent, and tells each state once', async () => {
    const { seen, resumedAfter } = await followed([
      () => inChunks(snapshot(1, 'created') + ': keep-alive\n\n' + changed(2, 'pending') + changed(3, 'finalized')),
    ]);
    expect([seen, resumedAfter]).toEqual([['created', 'pending', 'finalized'], [null]]);
  });

  it('goes on after the end while something that a wallet was asked for may still arrive', async () => {
    let waits = 2;
    const { seen } = await followed(
      [
        () => inChunks(snapshot(1, 'expired')),
        () => inChunks(snapshot(1, 'expired')),
        () => inChunks(changed(2, 'confirmed') + changed(3, 'finalized')),
      ],
      'failed',
      () => (waits -= 1) >= 0,
    );
    expect(seen).toEqual(['expired', 'expired', 'confirmed', 'finalized']);
  });

  it('reopens the stream after the last version that it has read', async () => {
    const { seen, resumedAfter } = await followed([
      () => inChunks(snapshot(4, 'created') + 'event: intent.pen'),
      () => inChunks(changed(5, 'pending')),
      () => inChunks(changed(7, 'cancelled')),
    ]);
    expect(resumedAfter).toEqual([null, '4', '5']);
    expect(seen).toEqual(['created', 'pending', 'cancelled']);
  });

  it('polls when no stream opens, and says so', async () => {
    const refused = (): Response => new Response('', { status: 503 });
    const { seen, connections } = await followed([refused, refused], 'failed');
    expect([seen, connections]).toEqual([['failed'], ['polling']]);
  });

  it('skips what it cannot read', async () => {
    const { seen } = await followed([
      () =>
        inChunks(
          snapshot(1, 'created') +
            message(2, 'intent.unheard_of', { type: 'intent.unheard_of', data: { nothing: true } }) +
            'event: intent.pending\ndata: {"broken\n\n' +
            changed(3, 'failed'),
        ),
    ]);
    expect(seen).toEqual(['created', 'failed']);
  });
});
