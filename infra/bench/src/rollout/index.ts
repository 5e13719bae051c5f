export { Fleet } from './fleet.ts';
export { type Front, startFront } from './front.ts';
export { startLoad } from './load.ts';
export { Requests } from './requests.ts';
export { judge } from './verdict.ts';
