export { Fleet, PAYMENT_SERVICES } from './fleet.ts';
export { type Fronts, startFronts } from './front.ts';
export { type LoadOptions, startLoad } from './load.ts';
export { peopleAt } from './people.ts';
export { Requests } from './requests.ts';
export { judge } from './verdict.ts';
