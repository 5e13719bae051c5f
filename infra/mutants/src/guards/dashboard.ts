import type { Mutant } from '../mutant.ts';

/** Guards of what people may do. */
export const dashboardGuards: readonly Mutant[] = [
  {
    name: 'A request of a person is made only in a role that it names',
    file: 'services/dashboard/src/endpoint.ts',
    guard: 'if (!access.includes(account.role))',
    instead: 'if (access.length === 0)',
    test: {
      file: 'services/dashboard/test/payments/forwarding.integration.test.ts',
      name: 'every operation lets exactly the callers pass that its row of the matrix names',
    },
  },
  {
    name: 'A forwarded stream ends when its session or its member is gone',
    file: 'services/dashboard/src/payments/forwarding.ts',
    guard: 'if (role === null || !roles.includes(role)) end();',
    instead: 'if (role !== null && !roles.includes(role)) end();',
    test: {
      file: 'services/dashboard/test/payments/forwarding.integration.test.ts',
      name: 'ends within 30 s when its session ends, when its role goes, or when its member is removed',
    },
  },
  {
    name: 'A pass is valid for a minute, whatever it says of its end',
    file: 'packages/http/src/pass.ts',
    guard: 'maxTokenAge: PASS_SECONDS,',
    instead: '',
    test: { file: 'packages/http/test/pass.unit.test.ts', name: 'a pass is refused with a longer life' },
  },
  {
    name: 'No role can change the audit log',
    file: 'packages/database/src/postgres/roles.ts',
    guard: "except: { 'dashboard.audit_entries': ['SELECT', 'INSERT'] },",
    instead: '',
    test: {
      file: 'packages/database/test/postgres/roles.integration.test.ts',
      name: 'let none change the audit log, and only the webhook service delete from it',
    },
  },
  {
    name: 'A wallet in the settings can be paid',
    file: 'services/dashboard/src/settings/endpoints.ts',
    guard: 'wallets: wallets && canonical(wallets)',
    instead: 'wallets',
    test: {
      file: 'services/dashboard/test/settings/settings.integration.test.ts',
      name: 'refuse wallets that cannot be paid, and change nothing then',
    },
  },
  {
    name: 'Of a forwarded request the gateway gets no cookie',
    file: 'services/dashboard/src/payments/forwarding.ts',
    guard: "const SENT = ['accept', 'content-type', 'last-event-id'] as const;",
    instead: "const SENT = ['accept', 'content-type', 'cookie', 'last-event-id'] as const;",
    test: {
      file: 'services/dashboard/test/payments/gateway.integration.test.ts',
      name: 'carries a pass and the named headers, and no cookie',
    },
  },
];
