/** Calls the broker from the current process. */
export type Request = <Result>(
  what: string,
  serve: () => Result | Promise<Result>,
  timeoutMs?: number,
  signal?: AbortSignal,
) => Promise<Result>;
