export { createSender, type Sender, type SenderOptions, type SendResult } from './sender.ts';
export { egressOptions, type EgressOptions, egressVariables } from './variables.ts';
