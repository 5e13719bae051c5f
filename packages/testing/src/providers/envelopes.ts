import type { Behavior, Item, Reply } from './exchange.ts';

type Spoil = (reply: Reply, items: readonly Item[]) => Reply;

const withItems =
  (change: (items: readonly Item[]) => readonly Item[]): Spoil =>
  (reply, items) => ({ ...reply, body: change(items) });
const withText =
  (status: number, text: (body: string) => string, type: string): Spoil =>
  (reply) => ({ status, headers: { 'content-type': type }, body: text(JSON.stringify(reply.body)) });

const HTML = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>';

/** What happens to arrays, in turn. */
const OF_ARRAYS: readonly Spoil[] = [
  withItems((items) => items.map((one, index) => (index === items.length >> 1 ? { ...one, id: null } : one))),
  withItems((items) => items.slice(0, -1)),
  withItems((items) => [...items, ...items.slice(0, 1)]),
  withItems((items) => items.toReversed()),
  (reply, items) => ({ ...reply, body: items[0] ?? '' }),
];
/** What happens to any response, in turn. The last is late. */
const OF_ALL: readonly Spoil[] = [
  withText(502, () => HTML, 'text/html'),
  withText(200, (body) => body.slice(0, -10), 'application/json'),
  withText(200, () => '', 'application/json'),
  (reply) => reply,
];

/**
 * Spoils the envelopes of a share of the responses, at random, each time in another way: arrays first in their own
 * ways, then as all responses.
 * @param stallMs how long the last of the ways takes
 */
export const spoiltEnvelopes =
  (share: number, stallMs: number): Behavior =>
  ({ wait, random }) => {
    const turns = { arrays: 0, all: 0 };
    return async (request, next) => {
      const reply = await next(request);
      if (random() >= share) return reply;
      const isOfArrays = request.calls.length > 1 && turns.arrays <= turns.all + OF_ALL.length;
      const ways = isOfArrays ? OF_ARRAYS : OF_ALL;
      const turn = isOfArrays ? turns.arrays++ : turns.all++;
      if (!isOfArrays && turn % ways.length === ways.length - 1) await wait(stallMs);
      const items = typeof reply.body === 'string' ? [] : [reply.body].flat();
      return ways[turn % ways.length]?.(reply, items) ?? reply;
    };
  };

/** Items of arrays in any order. */
export const shuffled: Behavior =
  ({ random }) =>
  async (request, next) => {
    const reply = await next(request);
    if (typeof reply.body === 'string' || !Array.isArray(reply.body)) return reply;
    const places = (reply.body as readonly Item[]).map((one) => ({ one, place: random() }));
    return { ...reply, body: places.sort((a, b) => a.place - b.place).map(({ one }) => one) };
  };

/** One error instead of an array whose JSON has more bytes than `max`. */
export const arrayBytes =
  (max: number): Behavior =>
  () =>
  async (request, next) => {
    const reply = await next(request);
    if (!Array.isArray(reply.body) || JSON.stringify(reply.body).length <= max) return reply;
    const error = { code: -32_008, message: 'Response is too big', data: `Exceeded max limit of ${max}` };
    return { ...reply, body: { jsonrpc: '2.0', id: null, error } };
  };
