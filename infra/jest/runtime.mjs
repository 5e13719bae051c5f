import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import Runtime from 'jest-runtime';
import { useGlobals } from './globals.mjs';

const GLOBALS = import.meta.resolve('./globals.mjs');
const { console } = globalThis;

// Our packages resolve to their TypeScript sources, as no test needs a build.
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: GLOBALS, shortCircuit: true }
      : next(
          specifier,
          specifier.startsWith('@pf/') ? { ...context, conditions: ['source', ...context.conditions] } : context,
        ),
});

/**
 * Lets Node import the tests, instead of Jest's own module loader in a realm for each file. A worker loads each module
 * once for all of its test files, which halves the work of unit tests. What a module keeps, it keeps from one file to
 * the next: a test restores what it changes, as it does for the next test of its own file. Spies and fake timers end
 * with the file (environment.mjs).
 */
export default class NodeRuntime extends Runtime {
  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(file) {
    const globals = this.requireModuleOrMock(file, '@jest/globals');
    useGlobals(globals);
    // Jest translates every stack trace by source maps, also those that are never read. Node strips types in place, so
    // lines and columns are those of the sources.
    Error.prepareStackTrace = undefined;
    // Our record of API responses asks whether a test runs, and which. What is written to the console, Jest reports.
    Object.assign(globalThis, { expect: globals.expect, console: this._environment.global.console });
    return await import(pathToFileURL(file).href);
  }

  teardown() {
    globalThis.console = console;
    super.teardown();
  }
}
