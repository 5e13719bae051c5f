import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { networkNamed } from '@pf/chains';
import type { Token } from '@pf/chains/networks';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { runPf } from '../../src/index.ts';

/** What a stub node says of a token, by the function that it is asked for. */
interface Said {
  readonly symbol?: string;
  readonly decimals?: number;
  readonly currency?: string;
  readonly paused?: boolean;
  readonly policy?: number;
}
const SELECTORS: Readonly<Record<string, keyof Said>> = {
  '0x95d89b41': 'symbol',
  '0x313ce567': 'decimals',
  '0xe5a6b10f': 'currency',
  '0x5c975abb': 'paused',
};
const word = (value: number): string => value.toString(16).padStart(64, '0');
const encoded = (value: string | number | boolean): string =>
  typeof value === 'string'
    ? `0x${word(32)}${word(value.length)}${Buffer.from(value).toString('hex').padEnd(64, '0')}`
    : `0x${word(Number(value))}`;
const REVERTED = Object.assign(new Error('execution reverted'), { code: 3, data: '0x' });

const tempo = networkNamed('tempo');
const rightly = ({ symbol, decimals, currency }: Token): Said => ({ symbol, decimals, currency, paused: false });

/** A Tempo node on which the registry is right, but for what is said of one token; null: it does not exist there. */
function tempoNode(
  changed: Readonly<Record<string, Said | null>> = {},
  chainId = 4217,
  forks?: object,
): RpcProxy['respond'] {
  return ({ method, params }) => {
    if (method === 'eth_chainId') return `0x${chainId.toString(16)}`;
    if (method === 'tempo_forkSchedule' && forks !== undefined) return forks;
    if (method !== 'eth_call') return REVERTED;
    const { to, data } = params[0] as { readonly to: string; readonly data: string };
    const token = tempo.tokens.find(({ address }) => (address as string) === to);
    if (token === undefined || changed[token.symbol] === null) return '0x';
    const said = { policy: 1, ...rightly(token), ...changed[token.symbol] };
    const fact = SELECTORS[data] ?? (data === TRANSFER_POLICY ? 'policy' : null);
    return fact === null || said[fact] === undefined ? REVERTED : encoded(said[fact]);
  };
}
const TRANSFER_POLICY = '0x9c4bad29';

describe('pf doctor', () => {
  let node: RpcProxy;
  beforeEach(async () => {
    // It answers everything itself: there is no node behind it.
    node = await startRpcProxy('http://127.0.0.1:1');
  });
  afterEach(() => node.stop());

  async function doctor(...args: readonly string[]) {
    let [out, errors] = ['', ''];
    const code = await runPf(['doctor', '--network', 'tempo', '--rpc', node.url, ...args], {
      environment: {},
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
    });
    return { code, out, errors };
  }

  it('prints what a network says of its tokens, and ends with 0 where the registry agrees', async () => {
    node.respond = tempoNode({ 'USDC.e': { policy: 7 } });
    const { code, out, errors } = await doctor();
    expect([code, errors]).toEqual([0, '']);
    expect(out).toMatch(/^NETWORK +UPSTREAM +RULES +TOKEN +SYMBOL +DECIMALS +CURRENCY +TRANSFERS +BLOCKLIST\n/);
    expect(out).toMatch(/^tempo +\S+ +– +USDC\.e +USDC\.e +6 +USD +open +TIP-403 policy 7$/m);
    expect(out).toMatch(/^tempo +\S+ +– +EURC\.e +EURC\.e +6 +EUR +open +–$/m);
  });

  it.each<[string, Said | null, string]>([
    ['symbol', { symbol: 'USDC' }, 'symbol should be USDC.e, found USDC. '],
    ['decimals', { decimals: 18 }, 'decimals should be 6, found 18. '],
    ['currency', { currency: 'EUR' }, 'currency should be USD, found EUR. '],
    ['pause', { paused: true }, 'pause should be not paused, found paused. '],
    ['policy', { policy: 0 }, 'transfers should be open to every account, found a policy that lets no account be paid'],
    ['existence', null, 'existence should be a token, found none. '],
  ])('refuses a wrong %s: names network, token, expected, found and what to do', async (_fact, said, sentence) => {
    node.respond = tempoNode({ 'USDC.e': said });
    const { code, errors } = await doctor();
    expect(code).toBe(1);
    const { host } = new URL(node.url);
    const start = `Tempo at ${host}: USDC.e (0x20C000000000000000000000b9537d11c60E8b50): ${sentence}`;
    expect(errors.slice(0, start.length)).toBe(start);
    expect(errors.slice(start.length)).toMatch(/\w+\.\n$/);
    expect(errors.trim().split('\n')).toHaveLength(1);
  });

  it('gives programs what was found and what differs', async () => {
    node.respond = tempoNode({ OUSD: { decimals: 18 } });
    const { code, out, errors } = await doctor('--json');
    expect(code).toBe(1);
    expect(JSON.parse(errors)).toMatchObject({ error: { message: expect.stringContaining('found 18') } });
    expect(JSON.parse(out)).toMatchObject({
      upstreams: [
        {
          network: 'tempo',
          problem: null,
          tokens: expect.arrayContaining([
            expect.objectContaining({
              symbol: 'OUSD',
              found: expect.objectContaining({ decimals: 18 }),
              differences: [expect.objectContaining({ fact: 'decimals', expected: '6', found: '18' })],
            }),
          ]),
        },
      ],
    });
  });

  it('says which rules the network runs, and what of its schedule this version does not know', async () => {
    const schedule = [
      { name: 'T12', activationTime: 1_791_900_000, active: true, forkId: '0x471a451c' },
      { name: 'T13', activationTime: 1_796_000_000, active: false },
      { name: 'T14', activationTime: 18_446_744_073_709_551_615, active: false },
    ];
    node.respond = tempoNode({}, 4217, { active: 'T12', schedule });
    const scheduled = await doctor();
    expect(scheduled.out).toMatch(/^tempo +\S+ +T12 +pathUSD /m);
    expect(scheduled.code).toBe(1);
    expect(scheduled.errors).toContain(
      'it has rules that this version does not know: T13 from 2026-11-30T00:53:20.000Z on. Read what they change',
    );
    expect(scheduled.errors).not.toContain('T14');
    node.respond = tempoNode({}, 4217, { active: 'T12', schedule: schedule.slice(0, 1) });
    expect((await doctor()).code).toBe(0);
    node.respond = tempoNode({}, 4217, { active: 'a\u001B[2J', schedule: 7 });
    expect((await doctor()).code).toBe(0);
  });

  it('keeps what a token calls itself from controlling the terminal', async () => {
    node.respond = tempoNode({ OUSD: { symbol: 'OUSD\u001B[2J' } });
    const { out, errors } = await doctor();
    expect(`${out}${errors}`).not.toContain('\u001B');
    expect(errors).toContain(String.raw`found OUSD\u001b[2J. `);
  });

  it('refuses an upstream of another chain without reading its tokens', async () => {
    node.respond = tempoNode({}, 42_431);
    const { code, errors } = await doctor();
    expect([code, errors]).toEqual([
      1,
      `Tempo at ${new URL(node.url).host}: it serves eip155:42431, not eip155:4217.\n`,
    ]);
    expect(node.calls.get('eth_call')).toBeUndefined();
  });

  it('refuses an upstream that does not respond', async () => {
    node.respond = () => new Error('the node is starting');
    const { code, errors } = await doctor();
    expect([code, errors]).toEqual([1, expect.stringMatching(/^Tempo at \S+: it does not respond: /)]);
  });
});
