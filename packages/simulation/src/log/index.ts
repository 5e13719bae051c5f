export type { MemberTimes } from './member.ts';
export { type BrokerFaults, type BrokerOptions, SimulatedBroker } from './broker.ts';
export { simulatedTransport, writerId } from './transport.ts';
