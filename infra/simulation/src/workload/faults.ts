import { Random } from '@pf/simulation/kernel';
import type { FaultKind } from '../plan.ts';
import type { Service } from '../world/service.ts';
import type { World } from '../world/world.ts';

/** Begins a fault. @returns how it ends; null where it ends by itself */
type Fault = (world: World, random: Random) => (() => void) | null;

/** How long faults that end last, in milliseconds. */
const LASTS_MS = [100, 12_000] as const;

/** How long a failed request counts as trouble, in milliseconds. */
const TROUBLE_MS = 600;

const SERVERS = ['kafka', 'postgres', 'redis'] as const;

/** Any process, and often one that is in trouble already: it has something unfinished. */
function pickVictim({ kernel, services }: World, random: Random): Service {
  const inTrouble = services.filter(({ name }) => kernel.isInTrouble(name, TROUBLE_MS));
  return random.pick(random.chance(0.7) && inTrouble.length > 0 ? inTrouble : services);
}

/** Faults that happen again and again. Those of the chain and the network are set once, for the whole storm. */
const faults: Partial<Record<FaultKind, Fault>> = {
  kills: (world, random) => {
    pickVictim(world, random).kill();
    return null;
  },
  stops: (world, random) => {
    const service = pickVictim(world, random);
    service.stop();
    return () => service.continue();
  },
  partitions: (world, random) => {
    const { network } = world.kernel;
    const { name } = random.pick(world.services);
    const server = random.pick(SERVERS);
    const oneWay = random.int(3);
    if (oneWay !== 1) network.cut(name, server);
    if (oneWay !== 2) network.cut(server, name);
    return () => {
      network.heal(name, server);
      network.heal(server, name);
    };
  },
  'foreign messages': (world, random) => {
    const [partition, isMessage] = [random.int(world.plan.partitions), random.chance(0.5)];
    if (!world.broker.faults.tooFewReplicas) world.sendForeign(partition, isMessage);
    return null;
  },
  'log outages': (world) => world.crashBroker(),
  'missing replicas': (world) => {
    world.broker.faults.tooFewReplicas = true;
    return () => (world.broker.faults.tooFewReplicas = false);
  },
  // A marker may be lost then.
  'hanging transactions': (world) => world.crashBrokerAtCommit(),
  'store outages': (world) => {
    world.kernel.shutDown('postgres');
    return () => world.kernel.startUp('postgres');
  },
  'set-back store': (world, random) => {
    world.setBackDatabase(random.between(10, 5_000));
    return null;
  },
  // Who has loaded the row before it was damaged does not notice.
  'damaged rows': (world, random) => {
    const repair = world.damageRow(random);
    if (repair !== null && random.chance(0.7))
      for (const service of world.services) if (service.name.startsWith('watcher')) service.kill();
    return repair;
  },
  'redis outages': (world) => {
    world.kernel.shutDown('redis');
    return () => world.kernel.startUp('redis');
  },
  'skewed clocks': (world, random) => {
    const service = random.pick(world.services);
    service.setClock({ skewMs: random.between(-1, 1) * random.pick([500, 3_000, 15_000, 3_600_000]), drift: 0 });
    return () => service.setClock({ skewMs: 0, drift: 0 });
  },
  'clock jumps': (world, random) => {
    const service = random.pick(world.services);
    service.setClock({ skewMs: random.between(-1, 1) * 1_500, drift: random.between(-0.01, 0.01) });
    return () => service.setClock({ skewMs: 0, drift: 0 });
  },
};

/** Lets things go wrong until the storm is over, then repairs everything. */
export class Storm {
  readonly #world: World;
  readonly #endings = new Set<() => void>();
  #isOver = false;

  constructor(world: World) {
    this.#world = world;
  }

  begin(): void {
    const { plan, kernel } = this.#world;
    this.#world.setLastingFaults(true);
    for (const [kind, fault] of Object.entries(faults) as [FaultKind, Fault][])
      if (plan.kinds.has(kind)) this.#repeat(fault, new Random(kernel.seed, kind));
    kernel.schedule(plan.stormMs, () => this.#end());
  }

  #repeat(fault: Fault, random: Random): void {
    const { kernel, plan } = this.#world;
    const next = (): void => {
      if (this.#isOver) return;
      const end = fault(this.#world, random);
      if (end) {
        const ending = (): void => {
          this.#endings.delete(ending);
          end();
        };
        this.#endings.add(ending);
        kernel.schedule(random.between(...LASTS_MS), () => this.#endings.has(ending) && ending());
      }
      kernel.schedule(random.between(0, 2 * plan.faultEveryMs), next);
    };
    kernel.schedule(random.between(0, 2 * plan.faultEveryMs), next);
  }

  #end(): void {
    this.#isOver = true;
    this.#world.kernel.note('', 'the storm is over');
    for (const end of this.#endings) end();
    this.#world.kernel.network.healAll();
    this.#world.setLastingFaults(false);
  }
}
