/** Work was still running after its grace period: it is abandoned. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

/**
 * Waits for work, but after `ended` has aborted no longer than `graceMs`.
 * @throws AbandonedError; the result of the work is then ignored
 */
export async function settledWithin<Result>(
  work: Promise<Result>,
  ended: AbortSignal,
  graceMs: number,
): Promise<Result> {
  const late = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onEnd = (): void => {
    timer = setTimeout(
      () => late.reject(new AbandonedError(`Not settled within ${graceMs} ms after it was asked to end`)),
      graceMs,
    );
  };
  if (ended.aborted) onEnd();
  else ended.addEventListener('abort', onEnd, { once: true });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    ended.removeEventListener('abort', onEnd);
    clearTimeout(timer);
  }
}
