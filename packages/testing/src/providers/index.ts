export { type Profile, PROFILE_NAMES, type ProfileName, type ProfileNames, profileOf, PROFILES } from './profiles.ts';
export { upstreamsBehind } from './upstreams.ts';
export { type Provider, type ProviderOptions, startProvider } from './provider.ts';
