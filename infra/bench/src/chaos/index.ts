export { FAULTS, laggingPromotion, promotion } from './faults.ts';
export { type Rig, startRig } from './rig.ts';
export { runChaos } from './run.ts';
