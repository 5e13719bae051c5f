import { chains } from './dashboards/chains.ts';
import { intents } from './dashboards/intents.ts';
import { kafka } from './dashboards/kafka.ts';
import { overview } from './dashboards/overview.ts';
import { webhooks } from './dashboards/webhooks.ts';
import { dashboardOf } from './panels.ts';

/** All dashboards, in Grafana's format. */
export const DASHBOARDS = [overview, intents, chains, webhooks, kafka].map((page) => dashboardOf(page));
