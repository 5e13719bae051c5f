import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Connection, follow, type Scope } from '../../src/api/follow.ts';
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
  streams: readonly ((signal: AbortSignal) => Response)[],
  fetched: Intent['state'] = 'failed',
  isWaiting: () => boolean = () => false,
  scope?: Scope,
) {
  const seen: string[] = [];
  const connections: Connection[] = [];
  const resumedAfter: (string | null)[] = [];
  const ended = new AbortController();
  await follow(
    {
      openStream: async (after, signal) => {
        const stream = streams[resumedAfter.length];
        resumedAfter.push(after);
        if (stream === undefined) throw new TypeError('no connection');
        return stream(signal);
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
    scope,
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

  describe('over streams that say nothing more', () => {
    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => void jest.useRealTimers());

    /** It has sent its headers and this, and nothing more until the request is given up. */
    const silentAfter =
      (text: string) =>
      (signal: AbortSignal): Response =>
        new Response(
          new ReadableStream<Uint8Array>({
            start(controller) {
              if (text !== '') controller.enqueue(new TextEncoder().encode(text));
              signal.addEventListener('abort', () => controller.error(signal.reason));
            },
          }),
        );
    /** A page that is shown, left and shown again. */
    function page(): { scope: Scope; turn: (state: 'visible' | 'hidden') => void; thaw: () => void } {
      const [document, window] = [Object.assign(new EventTarget(), { visibilityState: 'visible' }), new EventTarget()];
      return {
        scope: Object.assign(window, { document }) as unknown as Scope,
        turn: (state) => {
          document.visibilityState = state;
          document.dispatchEvent(new Event('visibilitychange'));
        },
        thaw: () => window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true })),
      };
    }

    it('polls within 20 s where a proxy keeps back what comes behind the headers', async () => {
      const following = followed([silentAfter(''), silentAfter(''), silentAfter('')], 'failed');
      await jest.advanceTimersByTimeAsync(20_000);
      const { seen, connections } = await following;
      expect([seen, connections]).toEqual([['failed'], ['polling']]);
    });

    it('has the state of now within 2 s when the person comes back', async () => {
      const { scope, turn } = page();
      const later = [() => inChunks(changed(2, 'pending') + changed(3, 'finalized'))];
      const following = followed([silentAfter(snapshot(1, 'created')), ...later], 'failed', undefined, scope);
      await jest.advanceTimersByTimeAsync(500);
      turn('hidden');
      await jest.advanceTimersByTimeAsync(5_000);
      turn('visible');
      await jest.advanceTimersByTimeAsync(2_000);
      const { seen, resumedAfter } = await following;
      expect([seen, resumedAfter]).toEqual([
        ['created', 'pending', 'finalized'],
        [null, '1'],
      ]);
    });

    it('has it also from the memory of the browser, and while it pauses between two streams', async () => {
      const { scope, thaw } = page();
      const refused = (): Response => new Response('', { status: 503 });
      const streams = [silentAfter(snapshot(1, 'created')), refused, () => inChunks(changed(3, 'finalized'))];
      const following = followed(streams, 'created', undefined, scope);
      await jest.advanceTimersByTimeAsync(500);
      thaw();
      await jest.advanceTimersByTimeAsync(1);
      thaw();
      await jest.advanceTimersByTimeAsync(1);
      expect((await following).seen).toEqual(['created', 'finalized']);
    });

    it('leaves a stream alone where the page was hidden for a moment', async () => {
      const { scope, turn } = page();
      const following = followed(
        [silentAfter(snapshot(1, 'created')), () => inChunks(changed(3, 'finalized'))],
        'failed',
        undefined,
        scope,
      );
      await jest.advanceTimersByTimeAsync(500);
      turn('hidden');
      await jest.advanceTimersByTimeAsync(500);
      turn('visible');
      let isOver = false;
      void following.then(() => (isOver = true));
      await jest.advanceTimersByTimeAsync(30_000);
      expect(isOver).toBe(false);
      await jest.advanceTimersByTimeAsync(15_000);
      expect((await following).seen).toEqual(['created', 'finalized']);
    });
  });
});
