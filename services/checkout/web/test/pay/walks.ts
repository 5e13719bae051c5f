import fc from 'fast-check';
import type { CallsStatus } from '../../src/pay/money.ts';
import { liesOf } from './claims.ts';
import {
  ANSWERS,
  type Answer,
  type Ask,
  type Machine,
  RESPONSES,
  type SubmitResponse,
  type Tab,
  World,
} from './wallet-world.ts';

const COMMANDS_MAX = 30;
const SEED = 40;

/** One thing that happens; after it every text of every tab must be true. */
class Happening implements fc.Command<object, World> {
  readonly #name: string;
  readonly #happen: (world: World) => void;

  constructor(name: string, happen: (world: World) => void) {
    this.#name = name;
    this.#happen = happen;
  }

  check(): boolean {
    return true;
  }

  run(_: object, world: World): void {
    world.tick();
    this.#happen(world);
    world.tick();
    for (const tab of world.tabs) {
      const lies = liesOf(world, tab);
      if (lies.length > 0) throw new Error(`${this.#name}: ${lies.join(', ')}`);
    }
  }

  toString(): string {
    return this.#name;
  }
}

type Happen = (world: World, tab: Tab) => void;
const index = fc.nat({ max: 1 });
const inTab = (name: string, happen: Happen): fc.Arbitrary<Happening> =>
  index.map((at) => {
    const run = (world: World): void => {
      const tab = world.tabs[at];
      if (tab) happen(world, tab);
    };
    return new Happening(`${name} in tab ${at}`, run);
  });
/** Something happens to one of the asks for which it can. */
const toAsk = <How>(
  name: string,
  hows: fc.Arbitrary<How>,
  can: (ask: Ask, tab: Tab) => boolean,
  happen: (world: World, ask: Ask, how: How, tab: Tab) => void,
): fc.Arbitrary<Happening> =>
  fc.tuple(hows, fc.nat({ max: 3 }), index).map(([how, which, at]) => {
    const run = (world: World): void => {
      const tab = world.tabs[at];
      if (!tab) return;
      const possible = world.asks.filter((ask) => can(ask, tab));
      const ask = possible[which % Math.max(possible.length, 1)];
      if (ask) happen(world, ask, how, tab);
    };
    return new Happening(`${name} ${String(how)} ${which} in tab ${at}`, run);
  });

const asks = (onlySigns: boolean): Happen => {
  return (world, tab) => {
    if (world.statusOf(tab).offers === 'pay' && tab.step.kind === 'choosing') world.ask(tab, onlySigns);
  };
};
/** What leads on: it happens more often than the rest. */
const STEPS = [
  inTab('a wallet is asked', asks(false)),
  inTab('a wallet is asked to sign', asks(true)),
  toAsk(
    'the wallet',
    fc.constantFrom<Answer[]>('sends', ...ANSWERS),
    ({ isAwaited }) => isAwaited,
    (world, ask, how) => world.answer(ask, how),
  ),
  toAsk(
    'the wallet sends',
    fc.constant(''),
    ({ fate, onlySigns }) => fate === 'open' && !onlySigns,
    (world, ask) => world.send(ask),
  ),
  toAsk(
    'a submit is',
    fc.constantFrom<SubmitResponse[]>('accepted', ...RESPONSES),
    // What was signed is in one page alone; of a hash every tab can tell.
    (ask, tab) => ask.isInHand && (!ask.onlySigns || ask.tab === tab),
    (world, ask, how, tab) => world.submit(tab, ask, how),
  ),
  toAsk(
    'the transaction',
    fc.constantFrom('lands', 'reverts', 'drops'),
    ({ fate }) => fate === 'out' || fate === 'with_sponsor',
    (world, ask, how) => world.settle(ask, how),
  ),
  inTab('the stream is read', (world, tab) => world.hear(tab)),
  inTab('the person starts again', (world, tab) => {
    if (!world.statusOf(tab).offers.startsWith('again')) return;
    tab.wasWarned = true;
    world.know(tab, { type: 'restarted' });
  }),
];
const HAPPENINGS = [
  ...STEPS,
  ...STEPS,
  ...STEPS,
  toAsk(
    'the wallet says that its calls are',
    fc.constantFrom<CallsStatus[]>('pending', 'included', 'given_up', 'reverted', 'partly'),
    ({ hasOnlyCalls }) => hasOnlyCalls,
    (world, ask, status, tab) => world.askOfCalls(tab, ask, status),
  ),
  inTab('the page is loaded again', (world, tab) => world.reload(tab)),
  inTab('the person goes back', (_, tab) => {
    tab.step = { kind: 'choosing' };
  }),
  fc.constantFrom(
    new Happening('the time runs out', (world) => world.end('expired')),
    new Happening('the merchant cancels', (world) => world.end('cancelled')),
    new Happening('another device pays', (world) => world.pay('hash of another')),
    new Happening('another device sends something else', (world) =>
      world.arrive('intent.mismatched_payment', 'hash of another'),
    ),
  ),
];
const walks = fc.commands(HAPPENINGS, { maxCommands: COMMANDS_MAX, size: 'max' });

/**
 * Walks until a text is untrue.
 * @param said gets the texts that were shown
 * @returns what led to it and what it said; null after that many walks without
 */
export function walk(machine: Machine, walkCount: number, said = new Set<string>()): string | null {
  const details = fc.check(
    fc.property(walks, (commands) => fc.modelRun(() => ({ model: {}, real: new World(machine, said) }), commands)),
    { numRuns: walkCount, seed: SEED },
  );
  return fc.defaultReportMessage(details) ?? null;
}
