import { describe, expect, it } from '@jest/globals';
import { FairSlots, type Starter } from '../src/fair-slots.ts';

/** A URL with so many deliveries waiting. */
class Url implements Starter {
  readonly owner: string;
  waiting: number;
  running = 0;
  heldBack = 0;
  elsewhere = false;
  readonly #log: string[];
  readonly #name: string;

  constructor(log: string[], owner: string, name: string, waiting: number) {
    this.#log = log;
    this.owner = owner;
    this.#name = name;
    this.waiting = waiting;
  }

  canStart(): boolean {
    return this.waiting > 0 && !this.elsewhere;
  }

  holdBack(): void {
    this.heldBack += 1;
  }

  start(): void {
    this.waiting -= 1;
    this.running += 1;
    this.#log.push(this.#name);
  }
}

describe('Fair slots', () => {
  it('go to accounts in turns, and to the URLs of an account in turns', () => {
    const slots = new FairSlots({ slots: 1, reserved: 0, perAccount: 10, aside: 0 });
    const log: string[] = [];
    const urls = [
      new Url(log, 'large', 'large 1', 4),
      new Url(log, 'large', 'large 2', 4),
      new Url(log, 'large', 'large 3', 4),
      new Url(log, 'small', 'small', 4),
    ];
    for (const url of urls) slots.offer(url);
    for (let count = 0; count < 7; count += 1) slots.done(log.at(-1)?.split(' ')[0] ?? '');
    expect(log).toEqual(['large 1', 'small', 'large 1', 'small', 'large 2', 'small', 'large 3', 'small']);
  });

  it('go first to accounts that have none', () => {
    const slots = new FairSlots({ slots: 2, reserved: 0, perAccount: 2, aside: 0 });
    const log: string[] = [];
    const [first, second] = [new Url(log, 'a', 'a', 9), new Url(log, 'b', 'b', 9)];
    slots.offer(first);
    slots.offer(second);
    expect([first.running, second.running]).toEqual([2, 0]);
    slots.offer(new Url(log, 'c', 'c', 9));
    for (const owner of ['a', 'a']) slots.done(owner);
    expect(log).toEqual(['a', 'a', 'b', 'c']);
  });

  it('are kept for accounts that have none, one for each', () => {
    const slots = new FairSlots({ slots: 5, reserved: 2, perAccount: 9, aside: 0 });
    const log: string[] = [];
    const urls = ['a', 'b', 'c', 'd'].map((name) => new Url(log, name, name, 9));
    for (const url of urls) slots.offer(url);
    expect(urls.map(({ running }) => running)).toEqual([3, 1, 1, 0]);
    slots.done('a');
    expect(urls.map(({ running }) => running)).toEqual([3, 1, 1, 1]);
    slots.done('b');
    slots.done('a');
    // The account that had none left took one of those that are kept; the other gets none of them.
    expect(log).toEqual(['a', 'a', 'a', 'b', 'c', 'd', 'b']);
  });

  it('take over attempts from others, within the same bounds', () => {
    const slots = new FairSlots({ slots: 4, reserved: 1, perAccount: 2, aside: 0 });
    expect(['a', 'a', 'a', 'b', 'b', 'c'].map((owner) => slots.take(owner))).toEqual([
      true,
      true,
      false,
      true,
      false,
      true,
    ]);
    const url = new Url([], 'a', 'a', 9);
    slots.offer(url);
    slots.done('c');
    slots.done('a');
    expect(url.running).toBe(1);
  });

  it('are free for others once an attempt is set aside, which still counts for its account', () => {
    const slots = new FairSlots({ slots: 3, reserved: 1, perAccount: 2, aside: 2 });
    const log: string[] = [];
    const urls = ['a', 'b', 'c', 'd'].map((name) => new Url(log, name, name, 9));
    for (const url of urls.slice(0, 2)) slots.offer(url);
    expect(log).toEqual(['a', 'a', 'b']);
    expect([slots.setAside(), slots.setAside(), slots.setAside()]).toEqual([true, true, false]);
    // Both accounts have their most, and get none of those that are free now.
    expect(log).toEqual(['a', 'a', 'b', 'b']);
    slots.doneAside('a');
    expect(log).toEqual(['a', 'a', 'b', 'b']);
    for (const url of urls.slice(2)) slots.offer(url);
    expect(log).toEqual(['a', 'a', 'b', 'b', 'c']);
    slots.done('b');
    expect(log).toEqual(['a', 'a', 'b', 'b', 'c', 'd']);
  });

  it('are not given to a URL that has come to others while it waited', () => {
    const slots = new FairSlots({ slots: 1, reserved: 0, perAccount: 1, aside: 0 });
    const log: string[] = [];
    const [first, second, third] = ['a', 'b', 'c'].map((name) => new Url(log, name, name, 9));
    for (const url of [first, second, third]) if (url) slots.offer(url);
    if (second) second.elsewhere = true;
    slots.done('a');
    expect(log).toEqual(['a', 'c']);
  });

  it('are bounded for an account, and for all', () => {
    const slots = new FairSlots({ slots: 5, reserved: 0, perAccount: 3, aside: 0 });
    const log: string[] = [];
    const [first, second] = [new Url(log, 'a', 'a', 9), new Url(log, 'b', 'b', 9)];
    slots.offer(first);
    expect(first.running).toBe(3);
    slots.offer(second);
    expect(second.running).toBe(2);
    slots.done('a');
    expect([first.running, second.running]).toEqual([3, 3]);
    slots.done('b');
    expect([first.running, second.running]).toEqual([4, 3]);
  });

  it('tell what waits that its account was full, and nothing to what waits for other accounts', () => {
    const slots = new FairSlots({ slots: 3, reserved: 0, perAccount: 2, aside: 0 });
    const log: string[] = [];
    const [first, second, other] = [
      new Url(log, 'a', 'a 1', 9),
      new Url(log, 'a', 'a 2', 9),
      new Url(log, 'b', 'b', 9),
    ];
    for (const url of [first, second, other]) slots.offer(url);
    expect([first.running, second.running, other.running]).toEqual([2, 0, 1]);
    slots.done('b');
    expect([first, second, other].map(({ heldBack }) => heldBack)).toEqual([0, 0, 0]);
    slots.done('a');
    expect([first, second, other].map(({ heldBack }) => heldBack)).toEqual([1, 1, 0]);
  });

  it('are given back and used again by a URL that had nothing for a while', () => {
    const slots = new FairSlots({ slots: 1, reserved: 0, perAccount: 1, aside: 0 });
    const log: string[] = [];
    const url = new Url(log, 'a', 'a', 1);
    slots.offer(url);
    slots.done('a');
    slots.offer(url);
    expect(log).toEqual(['a']);
    url.waiting = 1;
    slots.offer(url);
    expect(log).toEqual(['a', 'a']);
  });

  it('tell how many are used, and how many URLs wait for one of them and for nothing else', () => {
    const slots = new FairSlots({ slots: 4, reserved: 1, perAccount: 2, aside: 1 });
    const readings = () => [slots.used, slots.waiting, slots.size];
    expect(readings()).toEqual([0, 0, 4]);
    const log: string[] = [];
    // At its most: a third attempt waits for its account.
    slots.offer(new Url(log, 'a', 'a', 9));
    expect(readings()).toEqual([2, 0, 4]);
    // The last slot is kept for an account that has none.
    const urls = ['b 1', 'b 2'].map((name) => new Url(log, 'b', name, 1));
    for (const url of urls) slots.offer(url);
    expect(readings()).toEqual([3, 1, 4]);
    for (const owner of ['c', 'd']) slots.offer(new Url(log, owner, owner, 1));
    expect(readings()).toEqual([4, 2, 4]);
    // Its URL is paused, or belongs to other slots by now.
    for (const url of urls) url.elsewhere = true;
    expect(readings()).toEqual([4, 1, 4]);
    slots.setAside();
    expect([...readings(), log.at(-1)]).toEqual([4, 0, 4, 'd']);
  });
});
