import { loadConfig, variables } from '@pf/runtime';

/** Docker gives a check 30 s; an answer that takes longer than this is none. */
const PATIENCE_MS = 2_000;

// The gateway answers on the port of its API, the others on one for this alone.
const { HEALTH_PORT, GATEWAY_PORT } = loadConfig({
  HEALTH_PORT: variables.port.optional(),
  GATEWAY_PORT: variables.port.default(4000),
});
const live = await fetch(`http://127.0.0.1:${HEALTH_PORT ?? GATEWAY_PORT}/healthz`, {
  signal: AbortSignal.timeout(PATIENCE_MS),
}).then(
  (response) => response.ok,
  // No answer, within the time or at all: not live.
  () => false,
);
process.exitCode = live ? 0 : 1;
