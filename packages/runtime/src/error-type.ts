/** The `error.type` of an error for metrics and spans: its code if it has one, else its class; never its message. */
export function errorTypeOf(error: unknown): string {
  // Not `instanceof Error`: if modules run in a VM context of their own, the system's errors come from another one.
  const { code, name } =
    typeof error === 'object' && error !== null ? (error as { code?: unknown; name?: unknown }) : {};
  const type = typeof code === 'string' ? code : name;
  if (typeof type !== 'string') return 'unknown';
  return /^[\w.-]{1,64}$/.test(type) ? type : 'Error';
}
