import type { z } from 'zod';
import { archiveVariables } from '../../../services/archive/src/config.ts';
import { checkoutVariables } from '../../../services/checkout/src/config.ts';
import { dashboardVariables } from '../../../services/dashboard/src/config.ts';
import { gatewayVariables } from '../../../services/gateway/src/config.ts';
import { intentVariables } from '../../../services/intent/src/config.ts';
import { watcherVariables } from '../../../services/watcher/src/config.ts';
import { webhookVariables } from '../../../services/webhook/src/config.ts';
import { migrateVariables, operatorVariables, topicsVariables } from '../../docker/src/config.ts';

/** The environment variables of each command of the image. */
export const COMMAND_VARIABLES: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  gateway: gatewayVariables,
  intent: intentVariables,
  watcher: watcherVariables,
  webhook: webhookVariables,
  dashboard: dashboardVariables,
  checkout: checkoutVariables,
  archive: archiveVariables,
  migrate: migrateVariables,
  topics: topicsVariables,
  operator: operatorVariables,
  idle: {},
};
