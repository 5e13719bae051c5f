export { announce, type AnnounceOptions } from './announce.ts';
export { SoundError, type SoundErrorCode } from './errors.ts';
export type { Heard } from './heard.ts';
export { listen, type ListenOptions } from './listen.ts';
export type { Pace } from './modem.ts';
export type { Announced } from './payload.ts';
export type { ScriptUrl } from './worker.ts';
