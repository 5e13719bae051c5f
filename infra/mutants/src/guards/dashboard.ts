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
      name: 'every operation allows exactly the callers in its row of the matrix',
    },
  },
  {
    name: 'A refund goes to another address only where a role that may pay out says so',
    file: 'services/dashboard/src/payments/forwarding.ts',
    guard: 'if (Object.hasOwn(sent, field) && !roles.includes(account.role))',
    instead: 'if (Object.hasOwn(sent, field) && roles.length === 0)',
    test: {
      file: 'services/dashboard/test/payments/forwarding.integration.test.ts',
      name: 'lets those who may pay out choose the address of a refund, and support not',
    },
  },
  {
    name: 'A forwarded stream ends when its session or its member is gone',
    file: 'services/dashboard/src/streams.ts',
    guard: 'if (role === null || !roles.includes(role)) end();',
    instead: 'if (role !== null && !roles.includes(role)) end();',
    test: {
      file: 'services/dashboard/test/payments/forwarding.integration.test.ts',
      name: 'ends within 30 s when its session ends, when its role goes, or when its member is removed',
    },
  },
  {
    name: 'Notices of an account reach its own streams only',
    file: 'packages/redis/src/channels.ts',
    guard: '`pf:account:${accountId}:',
    instead: '`pf:account:${accountId.length}:',
    test: {
      file: 'services/dashboard/test/insights/notices.integration.test.ts',
      name: 'notifies once when it begins, and then of payments of its account and mode only',
    },
  },
  {
    name: 'No personal token changes passwords, second factors, sessions or tokens',
    file: 'services/dashboard/src/endpoint.ts',
    guard: "if (sessionOnly && token !== undefined) throw new DashboardError('token.insufficient');",
    instead: '',
    test: {
      file: 'services/dashboard/test/tokens/tokens.integration.test.ts',
      name: 'allows what the session does, except for passwords, second factors, sessions and tokens',
    },
  },
  {
    name: 'A session does not stand in for a personal token that is invalid',
    file: 'services/dashboard/src/endpoint.ts',
    guard: 'const BEARER = /^bearer(?: +|$)(.*)$/i;',
    instead: 'const BEARER = /^bearer +(pft_[A-Za-z0-9]{32})$/i;',
    test: {
      file: 'services/dashboard/test/tokens/tokens.integration.test.ts',
      name: 'is refused if it is not active, whatever else the request has',
    },
  },
  {
    name: 'Only a personal token needs no origin',
    file: 'services/dashboard/src/endpoint.ts',
    guard: 'const BEARER = /^bearer(?: +|$)(.*)$/i;',
    instead: 'const BEARER = /^(?:bearer|basic)(?: +|$)(.*)$/i;',
    test: {
      file: 'services/dashboard/test/tokens/tokens.integration.test.ts',
      name: 'needs an Origin header with a session but not with a token',
    },
  },
  {
    name: 'A personal token that was revoked or has expired is refused',
    file: 'packages/database/src/dashboard/personal-tokens.ts',
    guard: 'WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > $2`,',
    instead: 'WHERE t.hash = $1 AND t.expires_at IS NOT NULL AND $2 IS NOT NULL`,',
    test: {
      file: 'services/dashboard/test/tokens/tokens.integration.test.ts',
      name: 'ends when it is revoked, when it signs out, and when it expires',
    },
  },
  {
    name: 'A forwarded stream ends when its personal token is revoked',
    file: 'packages/database/src/dashboard/personal-tokens.ts',
    guard: 'WHERE t.id = $1 AND t.user_id = $2 AND t.revoked_at IS NULL AND t.expires_at > $4 AND m.account_id = $3`,',
    instead: 'WHERE t.id = $1 AND t.user_id = $2 AND t.expires_at > $4 AND m.account_id = $3`,',
    test: {
      file: 'services/dashboard/test/tokens/tokens.integration.test.ts',
      name: 'makes payments in its accounts, and follows them until it is revoked',
    },
  },
  {
    name: 'A new password revokes personal tokens',
    file: 'packages/database/src/dashboard/passwords.ts',
    guard: "'UPDATE dashboard.personal_tokens SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL',",
    instead: "'UPDATE dashboard.personal_tokens SET revoked_at = $2 WHERE user_id = $1 AND false',",
    test: {
      file: 'services/dashboard/test/tokens/tokens.integration.test.ts',
      name: 'ends with a new password, however it was set',
    },
  },
  {
    name: 'A new password and the end of what was made before it are one transaction',
    file: 'packages/database/src/dashboard/passwords.ts',
    guard: 'return changingPerson(database, id, by, async (client) => {',
    instead: 'return Promise.resolve(database.sql as unknown as pg.PoolClient).then(async (client) => {',
    test: {
      file: 'services/dashboard/test/dashboard.integration.test.ts',
      name: 'takes all that was made before with it, or stays, and the link with it',
    },
  },
  {
    name: 'A passkey proves something only if its device has verified the person',
    file: 'services/dashboard/src/identity/passkeys.ts',
    guard: 'requireUserVerification: true };',
    instead: 'requireUserVerification: false };',
    test: {
      file: 'services/dashboard/test/identity/passkeys.integration.test.ts',
      name: 'is refused with no verification of the person',
    },
  },
  {
    name: 'A passkey signs in at the origin of the dashboard only',
    file: 'services/dashboard/src/identity/passkeys.ts',
    guard: 'expectedOrigin: origin,',
    instead: "expectedOrigin: [origin, 'https://evil.example', 'http://127.0.0.1:1'],",
    test: {
      file: 'services/dashboard/test/identity/passkeys.integration.test.ts',
      name: 'is refused with another origin',
    },
  },
  {
    name: 'A copied passkey is refused',
    file: 'services/dashboard/src/identity/passkeys.ts',
    guard: 'counter: passkey.counter }',
    instead: 'counter: -1 }',
    test: {
      file: 'services/dashboard/test/identity/passkeys.integration.test.ts',
      name: 'is refused when its counter stays or goes back',
    },
  },
  {
    name: 'A passkey signs in its own person only',
    file: 'services/dashboard/src/identity/passkeys.ts',
    guard: '!== passkey.userId)',
    instead: "=== '')",
    test: {
      file: 'services/dashboard/test/identity/passkeys.integration.test.ts',
      name: 'is refused with the signature of another key, for another person',
    },
  },
  {
    name: 'A challenge is for one purpose and one person',
    file: 'services/dashboard/src/identity/passkey-plugin.ts',
    guard: 'if (purpose !== ctx.body.purpose)',
    instead: 'if (purpose === undefined)',
    test: {
      file: 'services/dashboard/test/identity/passkeys.integration.test.ts',
      name: 'accepts a challenge once, in the same browser and for the same purpose',
    },
  },
  {
    name: 'A passkey is added with the password only',
    file: 'services/dashboard/src/identity/passkey-endpoints.ts',
    guard: 'await identity.checkPassword(body.password, person.userId);\n      const { options',
    instead: 'const { options',
    test: {
      file: 'services/dashboard/test/identity/passkeys.integration.test.ts',
      name: 'is added with the password, and signs in without a code',
    },
  },
  {
    name: 'A person removes their own passkeys only',
    file: 'packages/database/src/dashboard/passkeys.ts',
    guard: "'DELETE FROM dashboard.passkeys WHERE id = $1 AND user_id = $2 RETURNING name',",
    instead: "'DELETE FROM dashboard.passkeys WHERE id = $1 AND $2::text IS NOT NULL RETURNING name',",
    test: {
      file: 'services/dashboard/test/identity/passkeys.integration.test.ts',
      name: 'is of one person: no other one lists, renames, removes or adds it',
    },
  },
  {
    name: 'A new password removes passkeys',
    file: 'packages/database/src/dashboard/passwords.ts',
    guard: "await client.query('DELETE FROM dashboard.passkeys WHERE user_id = $1', [userId]);",
    instead: '',
    test: {
      file: 'services/dashboard/test/identity/passkeys.integration.test.ts',
      name: 'is removed by a new password, however it was set',
    },
  },
  {
    name: 'Only owners mark payments by sanctioned senders as done',
    file: 'services/dashboard/src/insights/endpoints.ts',
    guard: "if (!roles.includes(role)) throw new DashboardError('role.insufficient', { details: { roles } });",
    instead: '',
    test: {
      file: 'services/dashboard/test/insights/attention.integration.test.ts',
      name: 'is marked by owners only where its sender is sanctioned',
    },
  },
  {
    name: 'Only money that counts needs attention',
    file: 'packages/database/src/dashboard/attention.ts',
    guard: "AND level IN ('confirmed', 'finalized')",
    instead: '',
    test: {
      file: 'services/dashboard/test/insights/attention.integration.test.ts',
      name: 'lists deposits that are open and count, each as the payment API shows it, page by page',
    },
  },
  {
    name: 'An identity is given only to a person who has confirmed the address',
    file: 'packages/database/src/dashboard/provider-identities.ts',
    guard: 'if (!found?.verified)',
    instead: 'if (!found)',
    test: {
      file: 'services/dashboard/test/identity/oidc.integration.test.ts',
      name: 'is refused where the address was registered here and never confirmed',
    },
  },
  {
    name: 'A new identity needs an address that its provider has verified',
    file: 'services/dashboard/src/identity/oidc.ts',
    guard: 'isVerified === true && email ?',
    instead: 'email ?',
    test: {
      file: 'services/dashboard/test/identity/oidc.integration.test.ts',
      name: 'is refused where the provider has not verified the address, and registers no user',
    },
  },
  {
    name: 'The second factor is asked for after the identity provider, too',
    file: 'services/dashboard/src/identity/auth.ts',
    guard: 'hook.matcher(context) || context.path === PROVIDER_SESSION',
    instead: 'hook.matcher(context)',
    test: {
      file: 'services/dashboard/test/identity/oidc.integration.test.ts',
      name: 'links to the user who confirmed the address, notifies them and asks for their code',
    },
  },
  {
    name: 'A person unlinks their own identities only',
    file: 'packages/database/src/dashboard/provider-identities.ts',
    guard: 'FROM dashboard.provider_identities WHERE user_id = $1\n',
    instead: 'FROM dashboard.provider_identities WHERE $1::text IS NOT NULL\n',
    test: {
      file: 'services/dashboard/test/identity/oidc.integration.test.ts',
      name: 'is unlinked only by its person, with the password, who is notified; it can then no longer sign in',
    },
  },
  {
    name: 'The only way in which a person can sign in is not unlinked',
    file: 'services/dashboard/src/identity/oidc-endpoints.ts',
    guard: "if (!(await hasPassword(database, userId))) throw new DashboardError('identity.only_way');",
    instead: '',
    test: {
      file: 'services/dashboard/test/identity/oidc.integration.test.ts',
      name: 'stays linked while it is the only way in which its person can sign in',
    },
  },
  {
    name: 'A program gets a token only after its person has approved',
    file: 'packages/database/src/dashboard/device-requests.ts',
    guard: "if (decision !== 'approved' || userId === null || email === null) return 'denied';",
    instead: "if (userId === null || email === null) return 'denied';",
    test: {
      file: 'services/dashboard/test/tokens/device.integration.test.ts',
      name: 'gives none for a code that is denied, has expired, or was never given out',
    },
  },
  {
    name: 'A device code works once',
    file: 'packages/database/src/dashboard/device-requests.ts',
    guard: "await client.query('DELETE FROM dashboard.device_requests WHERE id = $1', [id]);",
    instead: '',
    test: {
      file: 'services/dashboard/test/tokens/device.integration.test.ts',
      name: 'gives the program a token once, when the person has approved its code',
    },
  },
  {
    name: 'A person can guess few user codes',
    file: 'services/dashboard/src/limits.ts',
    guard: "const DECISION_LIMITS = [limit('person', 30, QUARTER)];",
    instead: 'const DECISION_LIMITS: readonly Limit[] = [];',
    test: {
      file: 'services/dashboard/test/tokens/device.integration.test.ts',
      name: 'lets a person guess few codes',
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
      name: 'let none change the audit log or delete from it, but the webhook service what is two years old',
    },
  },
  {
    name: 'No service deletes an entry of the audit log that is younger than two years',
    file: 'packages/database/src/postgres/roles.ts',
    guard: "functions: ['dashboard.forget_audit_entries(integer)', 'service.forget_removed_endpoints(integer)'],",
    instead: "functions: ['dashboard.forget_audit_entries(integer)'], predefined: ['pg_write_all_data'],",
    test: {
      file: 'packages/database/test/postgres/roles.integration.test.ts',
      name: 'let none change the audit log or delete from it, but the webhook service what is two years old',
    },
  },
  {
    name: 'A program is approved with the password or a passkey',
    file: 'services/dashboard/src/tokens/device-endpoints.ts',
    guard: 'setCookies(await identity.confirm(approvalOf(userCode), body, person, client, at));',
    instead: '',
    test: {
      file: 'services/dashboard/test/tokens/device.integration.test.ts',
      name: 'takes the password, not the session alone',
    },
  },
  {
    name: 'A program is approved with a passkey of its person',
    file: 'services/dashboard/src/identity/identity.ts',
    guard: 'const isTheirs = passkey.userId === userId;',
    instead: 'const isTheirs = true;',
    test: {
      file: 'services/dashboard/test/tokens/device.integration.test.ts',
      name: 'takes a passkey of the person, for a challenge of the approval',
    },
  },
  {
    name: 'Invalid personal tokens are limited before they are looked up',
    file: 'services/dashboard/src/tokens/token-holders.ts',
    guard: 'if (nextMs !== null) throw this.#exceeded(nextMs);',
    instead: '',
    test: {
      file: 'services/dashboard/test/tokens/tokens.integration.test.ts',
      name: 'is not looked up for an address that has sent too many that are invalid',
    },
  },
  {
    name: 'Whatever an address asks of the dashboard is counted',
    file: 'services/dashboard/src/app.ts',
    guard: 'dependencies.limits.admitAddress(ip);',
    instead: '',
    test: {
      file: 'services/dashboard/test/limits.integration.test.ts',
      name: 'counts what an address asks without a session, the application and its documents too',
    },
  },
  {
    name: 'An address that is past its limit makes no rows',
    file: 'services/dashboard/src/limits.ts',
    guard: "for (const one of limits) if (one.by === 'address') this.#admitInMemory(one, now);",
    instead: '',
    test: {
      file: 'services/dashboard/test/limits.integration.test.ts',
      name: 'costs Postgres nothing once an address is past its own',
    },
  },
  {
    name: 'A stranger cannot lock a person out of where they have signed in',
    file: 'services/dashboard/src/limits.ts',
    guard: "if (operation === 'signIn' && stage.includes('email') && (await this.#isPlace(caller, now))) continue;",
    instead: '',
    test: {
      file: 'services/dashboard/test/limits.integration.test.ts',
      name: 'lets a person sign in where they have before, whatever others try',
    },
  },
  {
    name: 'An account sees no address and no browser of what a person does as themselves',
    file: 'packages/database/src/dashboard/audit.ts',
    guard: '{ ...source, address: null, userAgent: null },',
    instead: 'source,',
    test: {
      file: 'packages/database/test/dashboard/audit.integration.test.ts',
      name: 'has of a person in each of their accounts what concerns it, without the place',
    },
  },
  {
    name: 'An account sees nothing of what a person does as themselves that does not concern it',
    file: 'packages/database/src/dashboard/audit.ts',
    guard: 'if (isPrivate(change.action)) return;',
    instead: '',
    test: {
      file: 'packages/database/test/dashboard/audit.integration.test.ts',
      name: 'has of a person in each of their accounts what concerns it, without the place',
    },
  },
  {
    name: 'An account sees nothing of a person that older code has written, either',
    file: 'packages/database/src/dashboard/audit.ts',
    guard: "'action <> ALL($2)'",
    instead: "'$2::text[] IS NOT NULL'",
    test: {
      file: 'packages/database/test/dashboard/audit.integration.test.ts',
      name: 'hides what older code has written of a person',
    },
  },
  {
    name: 'A burst of one address leaves connections to Postgres to other people',
    file: 'services/dashboard/src/endpoint.ts',
    guard: "dependencies.limits.inTurn('lookup', request.ip, admitting, proof)",
    instead: 'admitting()',
    test: {
      file: 'services/dashboard/test/endpoint.unit.test.ts',
      name: 'is looked up when it is the turn of its address, which takes no turn of another',
    },
  },
  {
    name: 'A burst of sign-ins from one address leaves connections to Postgres to other people',
    file: 'services/dashboard/src/endpoint.ts',
    guard: "limits.inTurn('anyone', request.ip, act)",
    instead: 'act()',
    test: {
      file: 'services/dashboard/test/endpoint.unit.test.ts',
      name: 'gets its response in the turn of its address, which takes no turn of another or of a session',
    },
  },
  {
    name: 'A refund gives its client secret only to those who may see secrets',
    file: 'services/gateway/src/intents/refund.ts',
    guard: 'seesSecrets(holder) ? clientSecrets.forPayer(refund) : {}',
    instead: 'clientSecrets.forPayer(refund)',
    test: {
      file: 'services/dashboard/test/payments/forwarding.integration.test.ts',
      name: 'gives the client secret of a refund to those who may see secrets, and to no one else',
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
  {
    name: 'What waits for others takes no place of other requests of the dashboard',
    file: 'services/dashboard/src/payments/forwarding.ts',
    guard: "WAITING.has(id) ? 'waiting' : 'requests'",
    instead: "WAITING.has(id) ? 'requests' : 'requests'",
    test: {
      file: 'services/dashboard/test/payments/gateway.integration.test.ts',
      name: 'is served beside four persons who have as much under way as they may, with sponsors that hang',
    },
  },
  {
    name: 'Ten persons do not hold all streams of the dashboard',
    file: 'services/dashboard/src/streams.ts',
    guard: 'reserve: { reserve: RESERVE.all }',
    instead: 'reserve: { reserve: 0 }',
    test: {
      file: 'services/dashboard/test/streams.unit.test.ts',
      name: 'have a reserve for persons and addresses with few, where ten persons hold all others',
    },
  },
  {
    name: 'A stolen session cannot delay a new password',
    file: 'services/dashboard/src/limits.ts',
    guard: "  'changePassword',\n" + '',
    instead: '',
    test: {
      file: 'services/dashboard/test/limits.integration.test.ts',
      name: 'limits everything that is recorded, and refuses nothing that takes an access away',
    },
  },
  {
    name: 'A change is made only while the session or token of its request is in force',
    file: 'packages/database/src/dashboard/rights.ts',
    guard: '[proof.id, userId, at])) !== 1)',
    instead: '[proof.id, userId, at])) === null)',
    test: {
      file: 'services/dashboard/test/rights.integration.test.ts',
      name: 'is not made once the session has ended',
    },
  },
  {
    name: 'A change of an account is made only while the role allows it',
    file: 'packages/database/src/dashboard/rights.ts',
    guard: 'if (rowCount !== 1) throw new',
    instead: 'if (rowCount === null) throw new',
    test: {
      file: 'services/dashboard/test/rights.integration.test.ts',
      name: 'is not made once the role does not allow it',
    },
  },
  {
    name: 'A change is made without a right by an operator only',
    file: 'packages/database/src/dashboard/rights.ts',
    guard: "if (!right && kind !== 'operator') throw new",
    instead: "if (!right && kind === 'token') throw new",
    test: {
      file: 'packages/database/test/dashboard/rights.unit.test.ts',
      name: 'is not made by a person who has shown no right',
    },
  },
  {
    name: 'A right of one person changes nothing that another has',
    file: 'packages/database/src/dashboard/rights.ts',
    guard: 'if (right && right.userId !== userId) throw new',
    instead: 'if (right && right.userId === null) throw new',
    test: {
      file: 'packages/database/test/dashboard/rights.unit.test.ts',
      name: 'is not made of one person by the right of another',
    },
  },
  {
    name: 'A change that waits for its person holds no connection',
    file: 'packages/database/src/dashboard/rights.ts',
    guard: 'return inTurn(userId, change);',
    instead: 'return change();',
    test: {
      file: 'packages/database/test/dashboard/rights.unit.test.ts',
      name: 'takes no connection while one of its person is made, and lets those of others through',
    },
  },
  {
    name: 'A connection to a standby is not used again',
    file: 'packages/database/src/postgres/database.ts',
    guard: 'if (sqlStateOf(error) === READ_ONLY || ',
    instead: 'if (',
    test: {
      file: 'packages/database/test/postgres/library-transactions.unit.test.ts',
      name: 'returns none to a standby whose refusal the library has caught',
    },
  },
  {
    name: 'A session begins only with the password that is in force',
    file: 'services/dashboard/src/identity/auth.ts',
    guard: 'proven.hash === given.hash && ',
    instead: '',
    test: {
      file: 'services/dashboard/test/identity/overtaken.integration.test.ts',
      name: 'begins no session with the password before',
    },
  },
  {
    name: 'A session begins only with a passkey that is still there',
    file: 'services/dashboard/src/identity/identity.ts',
    guard: 'if (!(await stillProven(prisma))) throw',
    instead: 'if (!(await stillProven(prisma)) && refusal === undefined) throw',
    test: {
      file: 'services/dashboard/test/identity/overtaken.integration.test.ts',
      name: 'begins no session with a passkey from before',
    },
  },
  {
    name: 'A session begins only with an identity that is still linked',
    file: 'services/dashboard/src/identity/identity.ts',
    guard: 'if (!(await isLinked(prisma, identity, { userId, began }))) throw',
    instead: "if (await isLinked(prisma, identity, { userId: '', began })) throw",
    test: {
      file: 'services/dashboard/test/identity/overtaken.integration.test.ts',
      name: 'begins no session with an identity that it unlinks',
    },
  },
  {
    name: 'A sign-in at the provider that began before a new password links nothing',
    file: 'packages/database/src/dashboard/provider-identities.ts',
    guard: "if (found.ended) return 'ended';",
    instead: '',
    test: {
      file: 'services/dashboard/test/identity/overtaken.integration.test.ts',
      name: 'links no identity by a sign-in at the provider that began before',
    },
  },
  {
    name: 'The burst of one session leaves the others of its address their turns',
    file: 'services/dashboard/src/limits.ts',
    guard: 'if (proof === undefined) return',
    instead: 'if (proof !== null) return',
    test: {
      file: 'services/dashboard/test/endpoint.unit.test.ts',
      name: 'is looked up before those of another session of its address that came earlier',
    },
  },
];
