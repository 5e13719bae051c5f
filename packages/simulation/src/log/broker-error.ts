/** A refusal, with the name of the protocol's error. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError';
  readonly type: string;
  readonly retriable: boolean;

  constructor(type: string, { retriable = true } = {}) {
    super(`The broker refuses: ${type}`);
    this.type = type;
    this.retriable = retriable;
  }
}
