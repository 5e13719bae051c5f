import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { imageProgram } from '../../../packages/testing/src/stack/image.ts';
import { readBackingStack } from '../../../packages/testing/src/stack/stack.ts';

/** Where nothing is migrated, and nothing can be. */
function readOnlyDatabase(): string {
  const url = new URL(readBackingStack().database);
  url.pathname = '/template1';
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  return url.href;
}

describe('the bundle of the image', () => {
  it('names the lines of the TypeScript sources in the stack of an error', async () => {
    const failed = promisify(execFile)(process.execPath, ['--enable-source-maps', imageProgram(), 'migrate'], {
      env: { PATH: process.env['PATH'], DATABASE_URL: readOnlyDatabase() },
    });
    await expect(failed).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/"stack":"[^"]*packages\/database\/src\/postgres\/migrate\.ts:\d+:\d+/),
    });
  });
});
