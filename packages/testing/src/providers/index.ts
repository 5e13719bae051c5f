export { type Profile, PROFILE_NAMES, type ProfileName, PROFILES } from './profiles.ts';
export { type Provider, type ProviderOptions, startProvider } from './provider.ts';
