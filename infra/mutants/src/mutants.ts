import { authorizationGuards } from './guards/authorizations.ts';
import { archiveGuards } from './guards/archive.ts';
import { baseGuards } from './guards/base.ts';
import { checkoutGuards } from './guards/checkout.ts';
import { clockGuards } from './guards/clock.ts';
import { dashboardGuards } from './guards/dashboard.ts';
import { gatewayGuards } from './guards/gateway.ts';
import { ownerGuards } from './guards/owner.ts';
import { privacyGuards } from './guards/privacy.ts';
import { rpcGuards } from './guards/rpc.ts';
import { screeningGuards } from './guards/screening.ts';
import { tempoGuards } from './guards/tempo.ts';
import { solanaGuards } from './guards/solana.ts';
import { verifyGuards } from './guards/verify.ts';
import { watcherGuards } from './guards/watcher.ts';
import { webhookGuards } from './guards/webhook.ts';
import { writerGuards } from './guards/writer.ts';
import type { Mutant } from './mutant.ts';

/**
 * The guards of the invariants of docs/internals/architecture.md and of what rests on them. Those of one test file run
 * together.
 */
export const mutants: readonly Mutant[] = [
  ...ownerGuards,
  ...writerGuards,
  ...clockGuards,
  ...gatewayGuards,
  ...dashboardGuards,
  ...archiveGuards,
  ...privacyGuards,
  ...checkoutGuards,
  ...screeningGuards,
  ...verifyGuards,
  ...authorizationGuards,
  ...baseGuards,
  ...tempoGuards,
  ...watcherGuards,
  ...solanaGuards,
  ...rpcGuards,
  ...webhookGuards,
];
