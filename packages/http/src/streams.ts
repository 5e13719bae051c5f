import { once } from 'node:events';
import type { Response } from 'express';

/** Writes parts as fast as the client reads them, and ends the response. @throws if the parts break off */
export async function writeParts(
  parts: AsyncIterable<Uint8Array | string> | Iterable<string>,
  response: Response,
  ending: AbortSignal,
): Promise<void> {
  try {
    for await (const part of parts) {
      if (ending.aborted) return;
      if (!response.write(part)) await once(response, 'drain', { signal: ending });
    }
    response.end();
  } catch (error) {
    if (!ending.aborted) throw error;
  }
}

/** The streams that are open in this process. */
export class OpenResponses {
  /** What ends each of them. */
  readonly #open = new Set<() => void>();
  #closing = false;

  /** Ends a stream with this process. @param ending aborted when it ends @returns what ends it before */
  add(response: Response, ending: AbortController): () => void {
    const end = (): void => {
      response.end();
      ending.abort();
    };
    this.#open.add(end);
    response.once('close', () => this.#open.delete(end));
    if (this.#closing) end();
    return end;
  }

  /** Ends all, and those that open from now on: their clients resume at another process. */
  close(): void {
    this.#closing = true;
    for (const end of this.#open) end();
  }
}
