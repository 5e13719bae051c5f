import { describe, expect, it } from '@jest/globals';
import { OPERATIONS } from '@pf/contracts';
import { DASHBOARD_OPERATIONS } from '@pf/contracts/dashboard';
import { createApp as createCheckout } from '../../../../../services/checkout/src/app.ts';
import { createApp as createDashboard } from '../../../../../services/dashboard/src/app.ts';
import { floodsOf } from './checkout-floods.ts';
import { PAYMENT_OPERATIONS, type Stranger } from './payments.ts';
import { DASHBOARD_PATHS, forRoutes, routeOf, routesOf, routesWithoutAKey } from './routes.ts';

const URL_OF_APP = 'https://pay.example';
const opened = { id: 'x', clientSecret: 'x' };
const stranger = { intent: opened, link: opened, key: 'x', accountId: 'x', paymasterToken: 'x' } as unknown as Stranger;

/** The drills beside this file flood these routes: one that is added without a flood fails here. */
describe('the floods', () => {
  it('have every route of the checkout', () => {
    const app = createCheckout(forRoutes({ url: new URL(URL_OF_APP), trustedProxies: 0 }));
    expect(Object.keys(floodsOf(stranger, 'x', URL_OF_APP, '/')).toSorted()).toEqual(routesOf(app).toSorted());
  });

  it('have every route of the dashboard', () => {
    const app = createDashboard(forRoutes({ origin: URL_OF_APP, trustedProxies: 0 }));
    const own = Object.values(DASHBOARD_OPERATIONS).map((operation) => routeOf(operation, '/api'));
    const forwarded = PAYMENT_OPERATIONS.flatMap((id) =>
      ['test', 'live'].map((mode) => routeOf(OPERATIONS[id], `/api/accounts/:accountId/${mode}/v1`)),
    );
    const flooded = [...own, ...forwarded, ...Object.keys(DASHBOARD_PATHS)];
    expect(flooded.toSorted()).toEqual(routesOf(app).toSorted());
  });

  it('have every operation of the gateway, the preflights and the reference', () => {
    expect(PAYMENT_OPERATIONS.toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
    const routes = routesWithoutAKey();
    expect(routes).toEqual(
      expect.arrayContaining(['GET /v1/openapi.json', 'GET /v1/docs', 'GET /v1/docs/swagger-ui-bundle.js']),
    );
    for (const path of ['/intents/:id', '/intents/:id/submit', '/payment-links/:id/choose'])
      expect(routes).toContain(`OPTIONS /v1${path}`);
  });
});
