/** The prefix of devnet's genesis hash is its CAIP-2 reference. */
export const DEVNET_GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';

export interface NodeOptions {
  /**
   * 0: two consecutive free ports. WebSockets are served on this port and the next. Default 0.
   */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** The folder of the ledger; absent: in memory. */
  readonly ledger?: string;
  /** ms per slot. Default 200. */
  readonly slotMs?: number;
  /** Slots until a block is final. Default 4. */
  readonly finalitySlots?: number;
  /** The clock is paused until it is resumed. Default false. */
  readonly paused?: boolean;
  /** The result of getGenesisHash. Default devnet's. */
  readonly genesisHash?: string;
}

export interface RunningNode {
  /** `http://host:port`; with `ws:` for subscriptions. */
  readonly url: string;
  readonly port: number;
  /** Shuts it down gracefully; the ledger keeps everything that was acknowledged. */
  stop(): Promise<void>;
}
