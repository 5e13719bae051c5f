import {
  type DepositMessage,
  isSignedBy,
  isSignedObservation,
  type ObservationAuthor,
  observationKey,
  type ObservationMessage,
} from '@pf/contracts';

/** More networks than there are. */
const AUTHORS_MAX = 100;

/**
 * Who is believed about what. Every watcher writes to one topic, as one user of Kafka: a signature says which of them
 * it was (docs/internals/decisions/0041-observations-are-signed.md).
 */
export class ObservationAuthors {
  readonly #secrets: readonly Uint8Array[];
  readonly #acceptUnsigned: boolean;
  /** The same few, again and again. */
  readonly #keys = new Map<ObservationAuthor, readonly Uint8Array[]>();

  /**
   * @param secrets OBSERVATION_SECRET
   * @param acceptUnsigned ACCEPT_UNSIGNED_OBSERVATIONS: what has no signature is believed, as of earlier versions
   */
  constructor(secrets: readonly Uint8Array[], acceptUnsigned: boolean) {
    this.#secrets = secrets;
    this.#acceptUnsigned = acceptUnsigned;
  }

  /** @param value the text that the message was read from @returns why it is not believed; null: it is */
  refusalOf(value: string, { type, chain }: ObservationMessage | DepositMessage): string | null {
    if (!isSignedObservation(value))
      return this.#acceptUnsigned ? null : 'it is not signed: give its watcher OBSERVATION_KEYS of its networks';
    if (type === 'assigned')
      return isSignedBy(this.#keysOf('intent'), value)
        ? null
        : 'it is not signed by the intent service: compare OBSERVATION_SECRET of the intent services';
    if (chain === undefined) return 'it names no network: its watcher has to name the one that it observes';
    if (isSignedBy(this.#keysOf(chain), value)) return null;
    return (
      `it is not signed by the watcher of ${chain}: ` +
      'compare its OBSERVATION_KEYS with OBSERVATION_SECRET of the intent services'
    );
  }

  #keysOf(author: ObservationAuthor): readonly Uint8Array[] {
    const known = this.#keys.get(author);
    if (known !== undefined) return known;
    const keys = this.#secrets.map((secret) => observationKey(secret, author));
    // Whoever may write to the topic chooses what names a network.
    if (this.#keys.size < AUTHORS_MAX) this.#keys.set(author, keys);
    return keys;
  }
}
