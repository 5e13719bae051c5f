export * from './controls.ts';
export * from './controls-of.ts';
export { ControlError } from './control-error.ts';
