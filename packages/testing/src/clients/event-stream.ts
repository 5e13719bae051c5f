/** A server-sent event. */
export interface StreamMessage {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** An open event stream. */
export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  /** The events so far. */
  readonly messages: readonly StreamMessage[];
  /** The comments so far. */
  readonly comments: () => number;
  /** The server's `retry`, in ms. */
  readonly retryMs: () => number | null;
  /**
   * Resolves when the stream is over: true when the server ended it properly, false when it broke or was closed here.
   */
  readonly ended: Promise<boolean>;
  close(): void;
}

/** @param headers with the API key */
export async function openStream(url: string, headers: Readonly<Record<string, string>>): Promise<OpenStream> {
  const aborting = new AbortController();
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: aborting.signal });
  const messages: StreamMessage[] = [];
  let comments = 0;
  let retryMs: number | null = null;
  const read = (block: string): void => {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) comments += 1;
      else {
        const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
        fields.set(name, value);
      }
    }
    if (fields.has('retry')) retryMs = Number(fields.get('retry'));
    const data = fields.get('data');
    if (data !== undefined) messages.push({ id: fields.get('id') ?? '', event: fields.get('event') ?? '', data });
  };
  const pump = async (): Promise<boolean> => {
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk, { stream: true });
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) read(block);
      }
      return true;
    } catch {
      // Closed here or broken: the same for the reader.
      return false;
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    messages,
    comments: () => comments,
    retryMs: () => retryMs,
    ended: pump(),
    close: () => aborting.abort(),
  };
}
