export { openStore } from '../store/open-store.ts';
export { StoreUnavailableError } from '../store/object-store.ts';
export { BundleDamagedError, ColdBundles } from './bundles.ts';
export { type ColdReport, verifyCold } from './verify.ts';
export { unfinishedIn } from './unfinished.ts';
