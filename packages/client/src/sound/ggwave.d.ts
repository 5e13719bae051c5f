// ggwave 0.4.0 has no types of its own. Only what is used.
declare module 'ggwave' {
  export interface Parameters {
    sampleRateInp: number;
    sampleRateOut: number;
    sampleRate: number;
    samplesPerFrame: number;
    operatingMode: number;
  }
  /** A member of an enumeration of the library. */
  export type Protocol = object;
  export interface Ggwave {
    readonly ProtocolId: Readonly<Record<string, Protocol>>;
    readonly GGWAVE_OPERATING_MODE_RX: number;
    readonly GGWAVE_OPERATING_MODE_TX: number;
    getDefaultParameters(): Parameters;
    /** @returns negative if there are too many */
    init(parameters: Parameters): number;
    free(instance: number): void;
    /** @returns a view of memory that the next call overwrites: 32-bit floats */
    encode(instance: number, payload: Uint8Array, protocol: Protocol, volume: number): Int8Array;
    /** @returns a view of memory that the next call overwrites; empty when nothing was heard */
    decode(instance: number, samples: Uint8Array): Int8Array;
    /** For receivers that are made afterwards. */
    rxToggleProtocol(protocol: Protocol, state: 0 | 1): void;
  }
  export default function factory(module: { print(): void; printErr(): void }): Promise<Ggwave>;
}
