import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/stack/settings.ts';

const read = (env: Record<string, string>) => readSettings(env, '/repository');

describe('the settings of the local stack', () => {
  it('default to the API on port 4000 and data in .local', () => {
    const settings = read({});
    expect(settings.ports.gateway).toBe(4000);
    expect(settings.data).toBe('/repository/.local');
    expect(settings.external.database).toBeNull();
    expect(settings.blocksUntilFull).toBe(3_000);
  });

  it('move every port by PF_PORT_SHIFT, except one with a variable of its own', () => {
    const { ports } = read({ PF_PORT_SHIFT: '3000', KAFKA_PORT: '29092' });
    expect(ports.gateway).toBe(7000);
    expect(ports.postgres).toBe(7010);
    expect(ports.kafka).toBe(29_092);
  });

  it('move Solana’s two ports together', () => {
    const { solana, solanaWebSocket } = read({ SOLANA_PORT: '8899' }).ports;
    expect([solana, solanaWebSocket]).toEqual([8899, 8900]);
    expect(() => read({ SOLANA_PORT: '65535' })).toThrow(/SOLANA_PORT: .*65536/);
  });

  it('use the upstreams that the environment lists', () => {
    expect(read({ RPC_SOLANA_DEVNET: 'https://a.example,https://b.example' }).external.chains).toEqual({
      base: null,
      baseLive: null,
      solana: 'https://a.example,https://b.example',
      tempo: null,
    });
  });

  it('treat an empty variable as unset', () => {
    expect(read({ DATABASE_URL: '', GATEWAY_PORT: '' }).external.database).toBeNull();
  });

  it('name the variable that is invalid', () => {
    expect(() => read({ REDIS_PORT: 'many' })).toThrow(/REDIS_PORT/);
  });

  it('reject a port that fetch refuses, and one port used twice', () => {
    expect(() => read({ PF_PORT_SHIFT: '2000' })).toThrow(/GATEWAY_PORT: .*6000/);
    expect(() => read({ REDIS_PORT: '4012' })).toThrow(/REDIS_PORT and KAFKA_PORT are both 4012/);
  });
});
