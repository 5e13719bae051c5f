/** What was under way when its end was asked for took too long: nobody waits for it any more. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

/**
 * Waits for work, but after `ended` has aborted no longer than the time given.
 * @throws AbandonedError; what the work comes to afterwards is ignored
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
      () => late.reject(new AbandonedError(`Not settled within ${graceMs} ms after its end was asked for`)),
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
