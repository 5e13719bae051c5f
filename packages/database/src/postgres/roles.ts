import pg from 'pg';
import { isDenied } from './database.ts';
import { REQUEST_RECORD_TABLES } from '../requests/request-records.ts';

/** A role of Postgres: one for each program that connects. The owner, who runs `migrate`, is none of them. */
export const DATABASE_ROLES = [
  'pf_gateway',
  'pf_intent',
  'pf_watcher',
  'pf_webhook',
  'pf_dashboard',
  'pf_checkout',
  'pf_archive',
  'pf_operator',
  'pf_monitor',
] as const;
export type DatabaseRole = (typeof DATABASE_ROLES)[number];

/** The schemas that hold everything. */
const SCHEMAS = ['dashboard', 'ledger', 'service'] as const;

/**
 * For a process whose every statement finds its rows by an index. Postgres keeps the plan of a prepared statement: one
 * that was made while a table was empty, or while all of its rows would have matched, would scan it after that. The
 * look-ups of 200 creates on 12,000 rows would take 50 ms instead of 3, the release of a webhook URL's lane on 380,000
 * deliveries that have ended 50 ms instead of 0.05.
 */
export const BY_INDEX: Readonly<Record<string, string>> = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/**
 * Limits that the server enforces, so that nothing runs on after the caller has given up: less than the 10 s after
 * which node-postgres breaks a connection (database.ts).
 */
const limits = (statement: string, lock: string, idleInTransaction: string): Readonly<Record<string, string>> => ({
  statement_timeout: statement,
  lock_timeout: lock,
  idle_in_transaction_session_timeout: idleInTransaction,
});

export interface RoleDefinition {
  /** By table; 'all' for every table of all schemas. `UPDATE (column)` is the right to change that column only. */
  readonly rights: Readonly<Record<string, readonly string[]>> | 'all';
  /** For 'all': the tables on which it has these rights only. */
  readonly except?: Readonly<Record<string, readonly string[]>>;
  /** The functions that it may call. They run with the rights of their owner. */
  readonly functions?: readonly string[];
  /** The right to create temporary tables, which no other role has. */
  readonly temporary?: true;
  /** The right to take advisory locks, until the end of a transaction (advisory-lock.ts). */
  readonly locks?: true;
  /** Postgres' own roles that it is a member of. */
  readonly predefined?: readonly string[];
  /** Settings of its sessions. Attributes of the role, not of the connection: every pooler accepts them. */
  readonly settings: Readonly<Record<string, string>>;
}

/** What following, assigning and giving up a match of a reserved amount change. */
const MATCHES = 'UPDATE (deposit_id, deposit_version, due_at, tries, next_deposit_id, next_deposit_version)';

/** What each role may do: exactly what its program does. SELECT … FOR UPDATE and FOR SHARE need a column to UPDATE. */
export const ROLE_DEFINITIONS: Readonly<Record<DatabaseRole, RoleDefinition>> = {
  pf_gateway: {
    rights: {
      'ledger.cold_intents': ['SELECT (id, account_id, livemode, created_at, bundle, first_byte, bytes, key)'],
      'ledger.deposits': ['SELECT'],
      'ledger.intents': ['SELECT'],
      'ledger.intent_events': ['SELECT'],
      'service.accounts': ['SELECT (id, plan)'],
      'service.api_keys': [
        'SELECT (id, account_id, hash, livemode, scope, revoked_at, expires_at, last_used_at)',
        'UPDATE (last_used_at)',
      ],
      'service.command_outcomes': ['SELECT'],
      'service.deliveries': ['SELECT', 'INSERT', 'UPDATE (status, next_attempt_at, delivered_at, failed_at, error)'],
      'service.delivery_attempts': ['SELECT'],
      'service.gas_promises': ['SELECT', 'INSERT', 'UPDATE (stubs, promises, at)'],
      'service.idempotent_answers': ['SELECT', 'INSERT', 'UPDATE (ciphertext, created_at)'],
      'service.missed_events': ['SELECT (account_id, livemode, seq)', 'INSERT'],
      'service.payment_links': ['SELECT', 'INSERT', 'UPDATE (state, cancelled_at)'],
      'service.payment_link_intents': ['SELECT', 'INSERT', 'UPDATE (cancel_at)'],
      'service.request_records': ['INSERT'],
      'service.secrets_canary': ['SELECT', 'INSERT'],
      'service.sponsors': ['SELECT', 'INSERT', 'UPDATE (ciphertext, updated_at)', 'DELETE'],
      'service.webhook_catch_ups': ['SELECT', 'INSERT', 'UPDATE (next_seq)', 'DELETE'],
      'service.webhook_endpoints': [
        'SELECT',
        'INSERT',
        'UPDATE (url, name, event_types, paused_at, resumed_at, api_version, disabled_at, disabled_by, failing_since)',
      ],
      'service.webhook_replays': ['SELECT', 'INSERT', 'UPDATE (state, read_at, ended_at, next_step_at)'],
      'service.webhook_secrets': ['SELECT', 'INSERT', 'DELETE'],
      'service.reserved_amounts': ['SELECT', 'INSERT', MATCHES, 'DELETE'],
      'service.signed_transactions': ['SELECT', 'INSERT', 'UPDATE (created_at)'],
    },
    locks: true,
    settings: limits('8s', '3s', '10s'),
  },
  pf_intent: {
    rights: {
      'ledger.checkpoints': ['SELECT', 'INSERT', 'UPDATE'],
      // What is old leaves, and comes back when it is needed.
      'ledger.cold_intents': ['SELECT', 'INSERT', 'DELETE'],
      'ledger.deposits': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
      'ledger.intents': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
      'ledger.intent_events': ['SELECT', 'INSERT', 'UPDATE (body)', 'DELETE'],
      'service.command_outcomes': ['SELECT', 'INSERT', 'UPDATE (at)', 'DELETE'],
      'service.deliveries': ['SELECT (intent_id)'],
      'service.erasures': ['SELECT', 'INSERT', 'DELETE'],
      'service.intent_keys': ['SELECT', 'INSERT', 'DELETE'],
      'service.recovery_keys': ['SELECT', 'INSERT', 'DELETE'],
      'service.secrets_canary': ['SELECT'],
      'service.webhook_positions': ['SELECT'],
    },
    settings: { ...limits('9s', '5s', '15s'), ...BY_INDEX },
  },
  pf_watcher: {
    rights: {
      'ledger.checkpoints': ['SELECT'],
      'ledger.deposits': ['SELECT'],
      'ledger.intents': ['SELECT'],
      'ledger.intent_events': ['SELECT'],
      'service.network_watches': ['SELECT', 'INSERT', 'UPDATE'],
      'service.signed_transactions': ['SELECT', 'INSERT', 'UPDATE (created_at)', 'DELETE'],
      'service.unasked_payments': ['SELECT', 'INSERT', 'UPDATE (flagged_at, finding)', 'DELETE'],
      'service.watch_bookmarks': ['SELECT', 'INSERT', 'UPDATE (bookmark)', 'DELETE'],
      'service.watched_wallets': ['SELECT', 'INSERT', 'UPDATE (since, until)', 'DELETE'],
    },
    // It loads its intents in one transaction, and reads them between the statements.
    settings: limits('9s', '5s', '60s'),
  },
  pf_webhook: {
    rights: {
      'ledger.intent_events': ['SELECT'],
      'service.accounts': ['SELECT (id, plan)'],
      'service.deliveries': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
      'service.delivery_attempts': ['SELECT', 'INSERT', 'DELETE'],
      'service.gas_promises': ['SELECT', 'UPDATE (at)', 'DELETE'],
      'service.idempotent_answers': ['SELECT', 'UPDATE (created_at)', 'DELETE'],
      // To lock what is copied.
      'service.missed_events': ['SELECT', 'INSERT', 'UPDATE (body)', 'DELETE'],
      'service.payment_links': ['SELECT', 'UPDATE (state, paid_by, paid_at)'],
      'service.payment_link_intents': ['SELECT', 'UPDATE (version, paid, open, cancel_at)'],
      ...Object.fromEntries(REQUEST_RECORD_TABLES.map((table) => [table, ['SELECT (slot)', 'TRUNCATE']] as const)),
      'service.reserved_amounts': ['SELECT', MATCHES, 'DELETE'],
      'service.webhook_catch_ups': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
      'service.webhook_endpoints': ['SELECT', 'UPDATE (disabled_at, disabled_by, failing_since)'],
      'service.webhook_lanes': ['SELECT', 'INSERT', 'UPDATE'],
      'service.webhook_replays': ['SELECT', 'UPDATE', 'DELETE'],
      'service.webhook_positions': ['SELECT', 'INSERT', 'UPDATE'],
      'service.secrets_canary': ['SELECT', 'INSERT'],
      'service.webhook_secrets': ['SELECT'],
    },
    // Deletes entries of the audit log that are past their retention, and URLs that have been marked as removed for as
    // long as deliveries are kept. It can delete no others.
    functions: ['dashboard.forget_audit_entries(integer)', 'service.forget_removed_endpoints(integer)'],
    settings: { ...limits('9s', '5s', '15s'), ...BY_INDEX },
  },
  pf_dashboard: {
    rights: {
      'dashboard.account_settings': ['SELECT', 'INSERT', 'UPDATE'],
      'dashboard.attempts': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
      'dashboard.attention_done': ['SELECT', 'INSERT', 'DELETE'],
      // Nothing that people can reach changes or deletes an entry.
      'dashboard.audit_entries': ['SELECT', 'INSERT'],
      'dashboard.credentials': ['SELECT', 'INSERT', 'UPDATE'],
      'dashboard.device_requests': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
      'dashboard.invitations': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
      'dashboard.members': ['SELECT', 'INSERT', 'UPDATE (role)', 'DELETE'],
      'dashboard.passkeys': ['SELECT', 'INSERT', 'UPDATE (name, counter, last_used_at)', 'DELETE'],
      'dashboard.personal_tokens': ['SELECT', 'INSERT', 'UPDATE (last_used_at, revoked_at)', 'DELETE'],
      'dashboard.provider_identities': ['SELECT', 'INSERT', 'DELETE'],
      'dashboard.sessions': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
      'dashboard.two_factors': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
      'dashboard.users': ['SELECT', 'INSERT', 'UPDATE'],
      'dashboard.verifications': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
      'ledger.deposits': ['SELECT (id, account_id, livemode, level, state, created_at, document)'],
      'ledger.intents': [
        'SELECT (id, account_id, livemode, status, direction, token_address, amount_base_units, refund_of)',
        'SELECT (chain, requestor, reference, created_at, closed_at, state)',
      ],
      'ledger.intent_events': ['SELECT (intent_id, version, event_id, type, body, at, account_id, livemode)'],
      'service.accounts': ['SELECT', 'INSERT (id, name)', 'UPDATE (name)'],
      // Not the hashes.
      'service.api_keys': [
        'SELECT (id, account_id, hint, livemode, scope, name, created_at, revoked_at, expires_at, last_used_at)',
        'INSERT',
        'UPDATE (revoked_at)',
      ],
      'service.deliveries': [
        'SELECT (id, endpoint_id, account_id, livemode, status, event_type, intent_id, url, error)',
        'SELECT (created_at, failed_at)',
      ],
      'service.unasked_payments': [
        // Not the finding, which is for the operator.
        'SELECT (chain, hash, sender, intent_id, account_id, livemode, flagged_at)',
      ],
      'service.request_records': ['SELECT'],
      'service.webhook_endpoints': ['SELECT (id, account_id, livemode, url, paused_at, disabled_at, disabled_by)'],
    },
    // Deletes people who have never confirmed their address, a week after they have signed up. It can delete no others.
    functions: ['dashboard.forget_unconfirmed_people(integer)'],
    settings: limits('8s', '3s', '10s'),
  },
  // The public can reach this program: it reads whom an intent pays, and nothing of the payment.
  pf_checkout: {
    rights: {
      'dashboard.account_settings': [
        'SELECT (account_id, brand_name, logo, accent_color, support_url, return_origins)',
      ],
      'ledger.cold_intents': ['SELECT (id, account_id)'],
      'ledger.intents': ['SELECT (id, account_id)'],
      'service.accounts': ['SELECT (id, name)'],
      'service.payment_links': ['SELECT (id, account_id)'],
    },
    settings: { ...limits('3s', '1s', '5s'), ...BY_INDEX },
  },
  pf_archive: {
    rights: {
      // For `pf ledger verify`, which runs where the archive lies.
      'ledger.cold_intents': ['SELECT (id, partition, version, digest, bundle, first_byte, bytes, key)'],
      // Neither URLs nor what receivers respond: what is archived stays.
      'service.deliveries': [
        'SELECT (id, event_id, event_type, intent_id, account_id, livemode, endpoint_id, status, error)',
        'SELECT (attempt_count, response_status, created_at, first_attempt_at, last_attempted_at, next_attempt_at)',
        'SELECT (delivered_at, failed_at, ended_at)',
      ],
    },
    settings: { ...limits('9s', '5s', '15s'), ...BY_INDEX },
  },
  // `pf`: accounts, keys, URLs and secrets, and the repair of the projection, which folds into temporary tables and
  // reads the log between the statements of a transaction. People read with it which sessions hold others up, and end
  // them (docs/operations/runbooks).
  pf_operator: {
    rights: 'all',
    except: { 'dashboard.audit_entries': ['SELECT', 'INSERT'] },
    temporary: true,
    locks: true,
    predefined: ['pg_read_all_stats', 'pg_signal_backend'],
    settings: limits('1h', '60s', '10min'),
  },
  // KEDA's query (k8s/components/scaling/webhook.yaml).
  pf_monitor: {
    rights: {
      'service.deliveries': ['SELECT (endpoint_id, next_attempt_at)'],
      'service.webhook_endpoints': ['SELECT (id, failing_since, paused_at)'],
    },
    settings: limits('10s', '3s', '10s'),
  },
};

/** What serializes changes of one account: the only function for advisory locks that services call. */
const LOCK = 'pg_advisory_xact_lock(bigint)';
/**
 * Functions of Postgres that every user may call otherwise. One user could hold the locks of others, `migrate` too, or
 * take so many that the server has no memory for any; or fill the disk with large objects, which no table has.
 */
const CLOSED = String.raw`^(pg_(try_)?advisory_|lo_|loread$|lowrite$)`;

/**
 * What is to be done so that only the roles with `locks` and the owner may call these functions. Only a superuser can:
 * for others Postgres would warn, and do nothing.
 */
async function toClose(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; isLock: boolean }>(
    `SELECT oid::regprocedure::text AS name, proname LIKE '%advisory%' AS "isLock" FROM pg_proc
      WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ $1
        AND has_function_privilege('public', oid, 'EXECUTE')
      ORDER BY 1`,
    [CLOSED],
  );
  const { rows: missing } = await client.query<{ name: string }>(
    // Those too that are yet to be created: that statement comes before these.
    `SELECT name FROM unnest($1::text[]) AS name LEFT JOIN pg_roles ON rolname = name
      WHERE NOT EXISTS (
        SELECT FROM pg_proc, aclexplode(proacl) AS acl
         WHERE pg_proc.oid = $2::regprocedure AND acl.grantee = pg_roles.oid)
      ORDER BY 1`,
    [DATABASE_ROLES.filter((role) => ROLE_DEFINITIONS[role].locks), LOCK],
  );
  const { rows: owner } = await client.query<{ name: string }>(
    'SELECT quote_ident(rolname) AS name FROM pg_roles WHERE rolname = current_user AND NOT rolsuper',
  );
  const locks = rows.filter(({ isLock }) => isLock).map(({ name }) => name);
  return [
    ...missing.map(({ name }) => `GRANT EXECUTE ON FUNCTION ${LOCK} TO ${name}`),
    // Otherwise its next migration could not lock out others.
    ...(locks.length === 0 ? [] : owner.map(({ name }) => `GRANT EXECUTE ON FUNCTION ${locks.join(', ')} TO ${name}`)),
    ...(rows.length === 0 ? [] : [`REVOKE EXECUTE ON FUNCTION ${rows.map(({ name }) => name).join(', ')} FROM PUBLIC`]),
  ];
}

/** SQLSTATEs: the role was created meanwhile, seen late or early. */
const EXISTS = ['42710', '23505'];

/**
 * Gives every role its rights and settings, and takes away all others; creates roles that are missing, without a
 * password and without LOGIN. The settings go to the members of a role, too, because Postgres does not inherit them.
 * Run after the migrations by the owner of the tables; it can be repeated.
 *
 * @returns what this user may not do, each as a statement for an administrator. Empty: everything is in place.
 */
export async function grantRights(databaseUrl: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const left: string[] = [];
    /** Runs a statement in a savepoint of its own. */
    const attempt = async (statement: string): Promise<boolean> => {
      await client.query('SAVEPOINT attempt');
      try {
        await client.query(statement);
        return true;
      } catch (error) {
        await client.query('ROLLBACK TO SAVEPOINT attempt');
        const { code } = error as pg.DatabaseError;
        if (code !== undefined && EXISTS.includes(code)) return true;
        if (!isDenied(error)) throw error;
        left.push(statement);
        return false;
      }
    };
    // One transaction: no service is without its rights for a moment.
    await client.query('BEGIN');
    await client.query("SET LOCAL lock_timeout = '10s'");
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = ANY($1) ORDER BY 1`,
      [SCHEMAS],
    );
    const { rows: here } = await client.query<{ database: string }>(
      `SELECT quote_ident(current_database()) AS database`,
    );
    const database = here[0]?.database ?? '';
    // Otherwise every user may fill the disk with temporary tables.
    await attempt(`REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC`);
    // A database from before Postgres 15 lets every user create tables there.
    await attempt('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    // Otherwise every user may call every function.
    for (const schema of SCHEMAS) await attempt(`REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ${schema} FROM PUBLIC`);
    for (const role of DATABASE_ROLES) {
      const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
      if (rowCount === 0 && !(await attempt(`CREATE ROLE ${role} NOLOGIN`))) continue;
      const { rights, except = {}, functions = [], temporary, predefined = [], settings } = ROLE_DEFINITIONS[role];
      for (const schema of SCHEMAS) {
        await attempt(`REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM ${role}`);
        await attempt(`REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ${schema} FROM ${role}`);
        const isUsed =
          rights === 'all' || [...Object.keys(rights), ...functions].some((name) => name.startsWith(`${schema}.`));
        await attempt(
          isUsed ? `GRANT USAGE ON SCHEMA ${schema} TO ${role}` : `REVOKE USAGE ON SCHEMA ${schema} FROM ${role}`,
        );
      }
      const granted =
        rights === 'all'
          ? tables.map(({ name }) => [name, except[name] ?? ['SELECT', 'INSERT', 'UPDATE', 'DELETE']] as const)
          : Object.entries(rights);
      // Every program waits at its start for the migrations that it needs (schema-version.ts).
      await attempt(`GRANT SELECT (migration_name, finished_at, rolled_back_at) ON _prisma_migrations TO ${role}`);
      for (const [table, verbs] of granted) await attempt(`GRANT ${verbs.join(', ')} ON ${table} TO ${role}`);
      for (const name of functions) await attempt(`GRANT EXECUTE ON FUNCTION ${name} TO ${role}`);
      if (temporary) await attempt(`GRANT TEMPORARY ON DATABASE ${database} TO ${role}`);
      for (const own of predefined) {
        // Once an administrator has granted it, this user does not need the right to.
        const member = await client.query(`SELECT WHERE pg_has_role($1, $2, 'MEMBER')`, [role, own]);
        if (member.rowCount === 0) await attempt(`GRANT ${own} TO ${role}`);
      }
      const { rows: members } = await client.query<{ name: string }>(
        `SELECT quote_ident(member.rolname) AS name FROM pg_auth_members m
           JOIN pg_roles member ON member.oid = m.member JOIN pg_roles role ON role.oid = m.roleid
          WHERE role.rolname = $1 AND m.inherit_option ORDER BY 1`,
        [role],
      );
      for (const name of [role, ...members.map((member) => member.name)]) {
        for (const [setting, value] of Object.entries(settings)) {
          await attempt(`ALTER ROLE ${name} IN DATABASE ${database} SET ${setting} = '${value}'`);
        }
      }
    }
    const { rows: superuser } = await client.query('SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper');
    for (const statement of await toClose(client)) {
      if (superuser.length === 1) await attempt(statement);
      else left.push(statement);
    }
    await client.query('COMMIT');
    return left;
  } finally {
    await client.end();
  }
}
