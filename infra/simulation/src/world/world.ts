import { currentProcess, type Kernel } from '@pf/simulation/kernel';
import type { Plan } from '../plan.ts';
import { Gateways } from './gateway.ts';
import { Service } from './service.ts';
import { HOLDER, WorldDependencies } from './world-dependencies.ts';
import { startWatcher } from './watcher.ts';
import { startWebhooks } from './webhooks.ts';
import { startWriter } from './writer.ts';

const names = (kind: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${kind}-${index + 1}`);

/** The services and everything around them. */
export class World extends WorldDependencies {
  readonly gateways: Gateways;
  readonly services: readonly Service[];

  constructor(kernel: Kernel, plan: Plan) {
    super(kernel, plan);
    this.gateways = new Gateways(this, HOLDER);
    this.services = [
      ...this.gatewayNames.map((name) => new Service(this, name, (running) => this.gateways.start(running))),
      ...names('writer', plan.writers).map((name) => new Service(this, name, (running) => startWriter(this, running))),
      ...names('watcher', plan.watchers).map(
        (name) => new Service(this, name, (running) => startWatcher(this, running)),
      ),
      ...names('webhook', plan.webhooks).map(
        (name) => new Service(this, name, (running) => startWebhooks(this, running)),
      ),
    ];
    this.killBeforeTelling = () => {
      const { name } = currentProcess('telling an intent of a deposit');
      kernel.note(name, 'is killed before it tells an intent of its deposit');
      this.services.find((service) => service.name === name)?.kill();
    };
  }

  get gatewayNames(): readonly string[] {
    return names('gateway', this.plan.gateways);
  }
}
