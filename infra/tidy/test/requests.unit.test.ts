import { describe, expect, it } from '@jest/globals';
import { files, read } from '../src/repository.ts';

/** What calls others over HTTP: pages of browsers and stand-ins of tests do not count. */
const CALLERS = /^(packages\/(?!client\/|local-solana\/|simulation\/|testing\/)[\w-]+|services\/[\w-]+)\/src\/.*\.ts$/;
/** An HTTP request by `fetch`, by undici, or by Node's own client. */
const REQUESTS = [
  /await fetch\((?!\))/,
  /\.request\(\{\s*origin/,
  /import \{[^}]*\b(?:request|Pool)\b[^}]*\} from 'undici'/,
  /import \{[^}]*\brequest\b[^}]*\} from 'node:https?'/,
];
/** Those that need no name, and why. */
const NAMELESS: Readonly<Record<string, string>> = {
  'packages/cli/src/commands/sanctions.ts': 'the local stack answers',
  'packages/cli/src/forwarder.ts': 'it has the headers of the webhook',
};

describe('requests to others', () => {
  it('say in User-Agent who asks', () => {
    const calling = files.filter((file) => CALLERS.test(file) && REQUESTS.some((request) => request.test(read(file))));
    expect(calling).toEqual(expect.arrayContaining(['packages/rpc/src/transport.ts', ...Object.keys(NAMELESS)]));
    const silent = calling.filter((file) => NAMELESS[file] === undefined && !read(file).includes('USER_AGENT'));
    expect(silent).toEqual([]);
  });
});
