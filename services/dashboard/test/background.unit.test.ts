import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@pf/runtime';
import { Background } from '../src/background.ts';

describe('What goes on after a response', () => {
  /** Begins work until it is refused. @returns how often it began, and the error */
  const begun = (background: Background, ipOf: (n: number) => string, work: () => Promise<unknown>) => {
    for (let n = 0; ; n += 1) {
      try {
        background.run(ipOf(n), work);
      } catch (error) {
        return [n, error] as const;
      }
    }
  };

  it('is bounded for an address and its /48, so that others have places', async () => {
    const background = new Background(createLogger('test', 'silent'));
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = () => promise;
    const tooMany = { code: 'rate_limit.exceeded', details: { retry_after: 10 } };
    const own = begun(background, () => '192.0.2.1', work);
    expect(own).toMatchObject([10, tooMany]);
    const site = begun(background, (n) => `2001:db8:0:${n.toString(16)}::1`, work);
    expect(site).toMatchObject([160, tooMany]);
    const rest = begun(background, (n) => `198.51.100.${n}`, work);
    expect(rest).toMatchObject([202 - 10 - 160, { code: 'service.unavailable' }]);
    resolve();
    await background.close();
    background.run('192.0.2.1', async () => undefined);
    await background.close();
  });
});
