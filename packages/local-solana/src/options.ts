/** The start of devnet's genesis hash is its CAIP-2 reference. */
export const DEVNET_GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';

export interface NodeOptions {
  /**
   * 0: two neighbouring free ports of the system's choice. WebSockets are served on this port and the next. Default 0.
   */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Folder where the ledger is kept; absent: in memory, gone with the process. */
  readonly ledger?: string;
  /** Milliseconds of a slot. Default 400. */
  readonly slotMs?: number;
  /** Slots until a block is final. Default 4. */
  readonly finalitySlots?: number;
  /** The clock stands still until it is resumed. Default false. */
  readonly paused?: boolean;
  /** Answered by getGenesisHash. Default devnet's. */
  readonly genesisHash?: string;
}

export interface RunningNode {
  /** `http://host:port`; the same with `ws:` for subscriptions. */
  readonly url: string;
  readonly port: number;
  /** Ends it in order; what was answered is kept. */
  stop(): Promise<void>;
}
