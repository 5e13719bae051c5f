export { type BrokerFaults, type BrokerOptions, SimulatedBroker } from './broker.ts';
export { type MemberTimes, simulatedTransport, writerId } from './transport.ts';
