import { loadConfig, variables } from '@pf/runtime';

/** Less than the 3 s that the Dockerfile's HEALTHCHECK allows. */
const TIMEOUT_MS = 2_000;

const { HEALTH_PORT } = loadConfig({ HEALTH_PORT: variables.port });
const live = await fetch(`http://127.0.0.1:${HEALTH_PORT}/healthz`, {
  signal: AbortSignal.timeout(TIMEOUT_MS),
}).then(
  (response) => response.ok,
  // No response within the timeout: not live.
  () => false,
);
process.exitCode = live ? 0 : 1;
