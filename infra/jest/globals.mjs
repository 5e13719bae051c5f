/** Jest's functions for the test file that runs. */
let current;

export const useGlobals = (globals) => {
  current = globals;
};

/** Modules that are shared by test files import these once; each use is of the file that runs. */
const live = (name) =>
  new Proxy(() => undefined, {
    apply: (_target, self, args) => Reflect.apply(current[name], self, args),
    get: (_target, property) => current[name][property],
  });

export const [describe, it, test, expect, beforeAll, afterAll, beforeEach, afterEach, jest] = [
  'describe',
  'it',
  'test',
  'expect',
  'beforeAll',
  'afterAll',
  'beforeEach',
  'afterEach',
  'jest',
].map(live);
