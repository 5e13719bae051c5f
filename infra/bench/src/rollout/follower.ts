import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '@pf/testing';
import type { Requests } from './requests.ts';

/** The server names a time to come back after; this is for a stream that could not even be opened. */
const AGAIN_MS = 100;

/** Follows an intent by its event stream as an app does: where the server ends it, from the last event on. */
export interface Follower {
  /** What came after the snapshot: version and type, in the order of coming. */
  readonly events: readonly { readonly version: number; readonly type: string }[];
  /** How often it was opened. */
  readonly opened: () => number;
  /** Resolves when the event has come. */
  saw(type: string): Promise<void>;
  close(): Promise<void>;
}

/** @param until the type of the event after which there are no others */
export function follow(api: ApiClient, id: string, requests: Requests, until: string): Follower {
  const events: { version: number; type: string }[] = [];
  const waiting: { readonly type: string; readonly resolve: () => void }[] = [];
  const stopping = new AbortController();
  let opened = 0;
  let last: string | undefined;

  const take = (message: { readonly id: string; readonly event: string }): void => {
    last = message.id;
    if (message.event === 'snapshot') return;
    events.push({ version: Number(message.id), type: message.event });
    for (const { type, resolve } of waiting) if (type === message.event) resolve();
  };
  async function once(): Promise<void> {
    const stream = await api.follow(id, last);
    opened++;
    if (stream.status !== 200) throw new Error(`${stream.status}`);
    const close = (): void => stream.close();
    stopping.signal.addEventListener('abort', close);
    let taken = 0;
    let over = false;
    const ended = stream.ended.then((inOrder) => {
      over = true;
      if (!inOrder && !stopping.signal.aborted) requests.fail('stream', 'it broke');
    });
    while (!over) {
      await Promise.race([ended, delay(20)]);
      for (; taken < stream.messages.length; taken++) {
        const message = stream.messages[taken];
        if (message) take(message);
      }
    }
    stopping.signal.removeEventListener('abort', close);
    if (!stopping.signal.aborted && !isOver())
      await delay(stream.retryMs() ?? AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
  }
  const isOver = (): boolean => events.some(({ type }) => type === until);
  const following = (async () => {
    while (!stopping.signal.aborted && !isOver()) {
      await once().catch((error: unknown) => {
        requests.fail('stream', error);
        return delay(AGAIN_MS);
      });
    }
  })();
  return {
    events,
    opened: () => opened,
    saw: (type) =>
      new Promise((resolve) =>
        events.some((event) => event.type === type) ? resolve() : void waiting.push({ type, resolve }),
      ),
    close: () => (stopping.abort(), following),
  };
}
