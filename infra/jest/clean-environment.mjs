import { setTimeout as delay } from 'node:timers/promises';
import NodeRealm from './environment.mjs';

/** Sockets and processes need a moment to close, longer on a busy machine. */
const PATIENCE_MS = 10_000;
/** Resources that tests open. Node lists more: its own, Jest's, and timers, which end by themselves. */
const KINDS = new Set(['TCPSocketWrap', 'TCPServerWrap', 'PipeWrap', 'ProcessWrap', 'UDPWrap']);

// A worker's own pipes are created on first access: now, not in the middle of a test. (Prisma's client imports
// node:process, and Jest then reads all of its properties, stdin too.)
void [process.stdout, process.stderr];
process.stdin.unref?.();

/** What keeps the process running, by its kind. */
const open = () =>
  Map.groupBy(
    process.getActiveResourcesInfo().filter((kind) => KINDS.has(kind)),
    (kind) => kind,
  );

/**
 * Fails a test file that leaves a resource open, and waits for one that is only late. Jest alone would end the worker
 * by force without naming the resource or the file. To see where it was opened, run the file alone with
 * --detectOpenHandles.
 */
export default class CleanEnvironment extends NodeRealm {
  #before = open();
  #failures = [];

  /** A failed hook is often the reason why something stays open, and Jest reports a failed teardown in its place. */
  handleTestEvent({ name, error, test }) {
    if (name === 'hook_failure') this.#failures.push(`${test ? `${test.name}: ` : ''}${error?.stack ?? error}`);
    if (name === 'test_fn_failure') this.#failures.push(`${test.name}: ${error?.stack ?? error}`);
  }

  async teardown() {
    await super.teardown();
    const giveUp = performance.now() + PATIENCE_MS;
    for (let left = this.#left(); left.length > 0; left = this.#left()) {
      if (performance.now() > giveUp)
        throw new Error([`This file left open: ${left.join(', ')}.`, ...this.#failures].join('\n\n'));
      await delay(10);
    }
  }

  #left() {
    return [...open()].flatMap(([kind, { length }]) => {
      const more = length - (this.#before.get(kind)?.length ?? 0);
      return more > 0 ? [`${more} × ${kind}`] : [];
    });
  }
}
