import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '@pf/runtime';
import { dashboardVariables, oidcOptions } from '../src/config.ts';

const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME } = dashboardVariables;
const variables = { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME };
const optionsOf = (environment: Readonly<Record<string, string>>) => oidcOptions(loadConfig(variables, environment));
const whole = { OIDC_ISSUER: 'https://id.example/realms/shop', OIDC_CLIENT_ID: 'client', OIDC_CLIENT_SECRET: 'secret' };

describe('the identity provider of the configuration', () => {
  it('is none unless it is set', () => {
    expect(optionsOf({})).toBeNull();
    // As manifests and shells set them.
    expect(optionsOf({ OIDC_ISSUER: '', OIDC_CLIENT_ID: '', OIDC_CLIENT_SECRET: '' })).toBeNull();
  });

  it('has an issuer, a client with its secret, and a name for the button', () => {
    expect(optionsOf(whole)).toEqual({
      issuer: new URL(whole.OIDC_ISSUER),
      clientId: 'client',
      clientSecret: 'secret',
      name: 'single sign-on',
    });
    expect(optionsOf({ ...whole, OIDC_NAME: 'Example ID' })?.name).toBe('Example ID');
  });

  it.each(Object.keys(whole))('is refused without %s', (name) => {
    expect(() => optionsOf({ ...whole, [name]: '' })).toThrow('together, or none of them');
  });

  it('is reached by https, or on this machine', () => {
    expect(optionsOf({ ...whole, OIDC_ISSUER: 'http://127.0.0.1:4444' })).not.toBeNull();
    for (const issuer of ['http://id.example', 'ftp://id.example', 'id.example'])
      expect(() => optionsOf({ ...whole, OIDC_ISSUER: issuer })).toThrow('OIDC_ISSUER');
  });
});
