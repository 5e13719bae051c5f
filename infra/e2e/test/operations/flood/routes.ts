import { OPERATIONS } from '@pf/contracts';
import { createApp as createGateway } from '../../../../../services/gateway/src/app.ts';

interface Layer {
  readonly route?: { readonly path: string | RegExp; readonly methods: Readonly<Record<string, boolean>> };
  readonly handle?: { readonly stack?: readonly Layer[] };
}

/** Of what refuses all other methods of a path. */
const EVERY_METHOD = '_all';

/**
 * Each route of an app, as Express has it: a method and its path.
 * @param base where its routers are: Express does not say
 */
export function routesOf(app: Pick<ReturnType<typeof createGateway>, 'router'>, base = ''): readonly string[] {
  const read = (layers: readonly Layer[], prefix: string): readonly string[] =>
    layers.flatMap(({ route, handle }) =>
      route
        ? Object.keys(route.methods).flatMap((method) =>
            method === EVERY_METHOD ? [] : [`${method.toUpperCase()} ${prefix}${String(route.path)}`],
          )
        : read(handle?.stack ?? [], base),
    );
  return [...new Set(read(app.router.stack as unknown as readonly Layer[], ''))];
}

/** The route of an operation, as Express has it. */
export const routeOf = ({ method, path }: { readonly method: string; readonly path: string }, base: string): string =>
  `${method.toUpperCase()} ${base}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;

/** What an app is made of whose routes are read, and which serves nothing. */
const ANYTHING: unknown = new Proxy(() => undefined, { get: () => ANYTHING, apply: () => ANYTHING });

/** Dependencies of an app whose routes are read: every one of them is anything, but for these. */
export const forRoutes = <Dependencies extends object>(given: Partial<NoInfer<Dependencies>> = {}): Dependencies =>
  new Proxy(given, {
    get: (target, name): unknown => (Object.hasOwn(target, name) ? Reflect.get(target, name) : ANYTHING),
  }) as Dependencies;

/** Routes that are of no operation: preflights, and what describes the API. Each is asked for without a key. */
export function routesWithoutAKey(): readonly string[] {
  const operations = new Set(Object.values(OPERATIONS).map((operation) => routeOf(operation, '/v1')));
  return routesOf(createGateway(forRoutes({ trustedProxies: 0 })), '/v1').filter((route) => !operations.has(route));
}

/** Paths of the dashboard that are of no operation, by their route. */
export const DASHBOARD_PATHS: Readonly<Record<string, readonly string[]>> = {
  'GET /api/openapi.json': ['/api/openapi.json'],
  // The web application: its page, at any path, and its files.
  'GET /^\\/(?!api(\\/|$))/': ['/', `/${'x'.repeat(2_000)}`, '/pf-sound.js'],
};
