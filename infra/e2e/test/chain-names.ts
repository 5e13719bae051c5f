/** The local chains of test mode: one of each family, by the family's name. */
export { CHAIN_FAMILIES as NAMES, type ChainFamily as Name } from '@pf/domain';
