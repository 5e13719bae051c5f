import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/** What each realm has of its own: Array, Error, Map… */
const BUILT_IN = vm
  .runInNewContext(`Object.entries(Object.getOwnPropertyDescriptors(globalThis))`)
  .flatMap(([name, { writable }]) => (writable && !['globalThis', 'console'].includes(name) ? [name] : []));

/**
 * Jest runs its own modules in a realm apart, and the tests in Node's (runtime.mjs). This environment makes the two
 * agree on `Array` and `Error`, which `expect` compares, and fakes the timers and functions of Node's.
 */
export default class NodeRealm extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    for (const name of BUILT_IN) this.global[name] = globalThis[name];
    const { constructor: Mocker } = this.moduleMocker;
    const { constructor: Timers } = this.fakeTimersModern;
    this.moduleMocker = new Mocker(globalThis);
    this.fakeTimersModern = new Timers({ config: config.projectConfig, global: globalThis });
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    await super.teardown();
  }
}
