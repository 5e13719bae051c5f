export { BaseAdapter } from './adapter.ts';
export { decodePayment, decodeTransfer, encodePayment } from './calldata.ts';
export { base } from './family.ts';
export { BaseObserver } from './observer.ts';
export { TRANSFER } from './observe/landings.ts';
