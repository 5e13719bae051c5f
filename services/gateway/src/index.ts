export { createApp, type AppParts } from './app.ts';
export { ApiKeys } from './api-keys.ts';
export { Commands } from './commands.ts';
export { Outcomes } from './outcomes.ts';
export { ReplyChannel } from './reply-channel.ts';
