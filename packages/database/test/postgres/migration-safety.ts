import type { AlterTableCmd, ColumnDef, Constraint, CreateFunctionStmt, Node, RangeVar } from '@pgsql/types';
import { parse } from 'libpg-query';

/** A migration to be checked. */
export interface Migration {
  /** The name of its folder: migrations are applied in the order of their names. */
  readonly name: string;
  readonly sql: string;
}

/** A problem of a migration for the previous version of the services, which runs beside it. */
export interface Finding {
  readonly migration: string;
  readonly problem: string;
}

/** First line of a contract step: it names the released expand step that made superfluous what this one removes. */
const CONTRACT = /^--\s*contract:\s*(\S+)/m;
/** Changes of a table that are fast and affect neither version. */
const HARMLESS = [
  'AT_DropNotNull',
  'AT_ValidateConstraint',
  'AT_SetStatistics',
  'AT_SetRelOptions',
  'AT_ResetRelOptions',
  'AT_SetStorage',
  'AT_SetCompression',
];
/** Statements that only add something, or only change the migration's own session. */
const ADDING = [
  'CreateSchemaStmt',
  'CreateEnumStmt',
  'CreateSeqStmt',
  'CreateExtensionStmt',
  'CreateFunctionStmt',
  'CommentStmt',
  'VariableSetStmt',
];
const NUMBERED = ['serial', 'bigserial', 'smallserial', 'serial2', 'serial4', 'serial8'];

/** The body of a trigger's function that sets columns of the row, and can refuse nothing. */
const STAMPS = new RegExp(
  [
    '^',
    'BEGIN',
    '(--.*\\s+)*',
    '(PERFORM pg_current_xact_id\\(\\);\\s+)?',
    '(NEW\\.\\w+ := clock_timestamp\\(\\);\\s+)+',
  ]
    .join('\\s*')
    .concat('RETURN NEW;\\s+END\\s*$'),
);

const nameOf = (parts: readonly Node[] = []): string =>
  parts.map((part) => ('String' in part ? (part.String.sval ?? '') : '')).join('.');
const tableName = (of: RangeVar | undefined): string => `${of?.schemaname ?? 'public'}.${of?.relname ?? ''}`;
const constraintsOf = (column: ColumnDef): readonly Constraint[] =>
  (column.constraints ?? []).flatMap((node) => ('Constraint' in node ? [node.Constraint] : []));

/** A function gives each row a value of its own, so every row would be written. */
const isConstant = (value: Node | undefined): boolean =>
  value === undefined ||
  'A_Const' in value ||
  'SQLValueFunction' in value ||
  ('TypeCast' in value && isConstant(value.TypeCast.arg));

/** @returns the problem of a column that is added to an existing table; null: none */
function addedColumn(column: ColumnDef): string | null {
  const name = column.colname ?? '';
  const constraints = constraintsOf(column);
  const byDefault = constraints.find(({ contype }) => contype === 'CONSTR_DEFAULT');
  const typeName = column.typeName?.names?.map((node) => ('String' in node ? node.String.sval : '')).at(-1) ?? '';
  if (
    NUMBERED.includes(typeName) ||
    constraints.some(({ contype }) => contype === 'CONSTR_IDENTITY' || contype === 'CONSTR_GENERATED')
  )
    return `ADD COLUMN ${name} writes every row: add it empty, and fill it in batches`;
  if (byDefault && !isConstant(byDefault.raw_expr))
    return (
      `ADD COLUMN ${name} has a default that differs for each row, so it writes every row: ` +
      'add it empty, and fill it in batches'
    );
  if (constraints.some(({ contype }) => contype === 'CONSTR_NOTNULL') && !byDefault)
    return `ADD COLUMN ${name} NOT NULL without a default refuses the inserts of the previous version`;
  const other = constraints.find(
    ({ contype }) => contype !== 'CONSTR_NOTNULL' && contype !== 'CONSTR_NULL' && contype !== 'CONSTR_DEFAULT',
  );
  return other
    ? `ADD COLUMN ${name} with a constraint checks or indexes all rows and blocks writes: add the constraint separately`
    : null;
}

/**
 * @returns the problem of a constraint that is added to an existing table; null: none, in a contract step
 */
function addedConstraint(constraint: Constraint): string | null {
  const name = constraint.conname ?? '';
  if (constraint.contype === 'CONSTR_UNIQUE' || constraint.contype === 'CONSTR_PRIMARY')
    return constraint.indexname
      ? null
      : `ADD CONSTRAINT ${name} builds an index and blocks writes: ` +
          'CREATE UNIQUE INDEX CONCURRENTLY first, then ADD CONSTRAINT … USING INDEX';
  if (constraint.contype === 'CONSTR_CHECK' || constraint.contype === 'CONSTR_FOREIGN')
    return constraint.skip_validation
      ? null
      : `ADD CONSTRAINT ${name} reads all rows and blocks writes: ` +
          'add it NOT VALID, and VALIDATE CONSTRAINT in a separate migration';
  return `ADD CONSTRAINT ${name} is not known to be safe`;
}

function stamps({ options = [] }: CreateFunctionStmt): boolean {
  const body = options.find((option) => 'DefElem' in option && option.DefElem.defname === 'as');
  const list = body && 'DefElem' in body && body.DefElem.arg && 'List' in body.DefElem.arg ? body.DefElem.arg.List : {};
  return STAMPS.test(nameOf(list.items));
}

/** What the check of a statement depends on. */
interface StatementContext {
  /** The migration's functions for triggers that refuse nothing. */
  readonly stamping: ReadonlySet<string>;
  /** Tables that no released version uses. */
  readonly fresh: ReadonlySet<string>;
  /** The migration is a contract step. */
  readonly contract: boolean;
  /** It is the only statement of its migration, so it runs in no transaction. */
  readonly alone: boolean;
}

function alteredTable(command: AlterTableCmd, contract: boolean): string | null {
  const { subtype = '', name = '', def } = command;
  if (subtype === 'AT_AddColumn' && def && 'ColumnDef' in def) return addedColumn(def.ColumnDef);
  if (subtype === 'AT_AddConstraint' && def && 'Constraint' in def)
    return (
      addedConstraint(def.Constraint) ??
      (contract
        ? null
        : `ADD CONSTRAINT ${def.Constraint.conname ?? ''} refuses what the previous version may write: ` +
          'make it a contract step')
    );
  if (HARMLESS.includes(subtype) || (subtype === 'AT_ColumnDefault' && def !== undefined)) return null;
  if (
    contract &&
    ['AT_DropColumn', 'AT_AlterColumnType', 'AT_SetNotNull', 'AT_DropConstraint', 'AT_ColumnDefault'].includes(subtype)
  )
    return null;
  const problems: Readonly<Record<string, string>> = {
    AT_DropColumn: 'the previous version uses it: make it a contract step',
    AT_AlterColumnType:
      'it rewrites every row and blocks reads, and the previous version expects the old type: add another column',
    AT_SetNotNull: 'the previous version may write NULL: make it a contract step',
    AT_DropConstraint: 'the previous version may rely on it: make it a contract step',
    AT_ColumnDefault: 'the previous version may rely on the default: make it a contract step',
  };
  return `ALTER TABLE … ${subtype.slice(3)} ${name}: ${problems[subtype] ?? 'not known to be safe'}`;
}

/** @returns the problems of a statement */
function statement(node: Node, { stamping, fresh, contract, alone }: StatementContext): readonly string[] {
  const [kind = ''] = Object.keys(node);
  if (ADDING.includes(kind) || 'CreateStmt' in node) return [];
  if ('AlterTableStmt' in node) {
    const { relation, cmds = [] } = node.AlterTableStmt;
    if (fresh.has(tableName(relation))) return [];
    return cmds.flatMap((command) =>
      'AlterTableCmd' in command ? (alteredTable(command.AlterTableCmd, contract) ?? []) : [],
    );
  }
  if ('IndexStmt' in node) {
    const { relation, idxname = '', concurrent, unique } = node.IndexStmt;
    if (fresh.has(tableName(relation))) return [];
    if (!concurrent || !alone)
      return [
        `CREATE INDEX ${idxname} blocks writes to a table in use: make it CONCURRENTLY, ` +
          'in a migration of its own (it cannot run in a transaction)',
      ];
    return unique && !contract
      ? [`CREATE UNIQUE INDEX ${idxname} refuses what the previous version may write: make it a contract step`]
      : [];
  }
  if ('CreateTrigStmt' in node) {
    const { trigname = '', funcname } = node.CreateTrigStmt;
    return stamping.has(nameOf(funcname))
      ? []
      : [`CREATE TRIGGER ${trigname} may refuse what the previous version writes: only set columns to the time`];
  }
  if ('DropStmt' in node) {
    const { removeType = '', objects = [], concurrent } = node.DropStmt;
    const names = objects.map((object) =>
      'List' in object
        ? (object.List.items ?? []).map((item) => ('String' in item ? item.String.sval : '')).join('.')
        : '',
    );
    const what = `DROP ${removeType.replace('OBJECT_', '')} ${names.join(', ')}`;
    if (removeType === 'OBJECT_TABLE' && names.every((name) => fresh.has(name.includes('.') ? name : `public.${name}`)))
      return [];
    if (!contract) return [`${what}: the previous version uses it: make it a contract step`];
    return removeType === 'OBJECT_INDEX' && !(concurrent && alone)
      ? [`${what} blocks queries: make it CONCURRENTLY, in a migration of its own`]
      : [];
  }
  if ('AlterEnumStmt' in node)
    return node.AlterEnumStmt.oldVal === undefined
      ? []
      : ['ALTER TYPE … RENAME VALUE: one of the two versions does not know the name'];
  if (
    'InsertStmt' in node &&
    node.InsertStmt.selectStmt &&
    'SelectStmt' in node.InsertStmt.selectStmt &&
    node.InsertStmt.selectStmt.SelectStmt.valuesLists
  )
    return [];
  if ('RenameStmt' in node)
    return [
      'RENAME: one of the two versions does not know the name. ' +
        'Add the new one, write both, fill it in batches, and drop the old one a release later',
    ];
  if ('UpdateStmt' in node || 'DeleteStmt' in node || 'InsertStmt' in node)
    return [
      `${kind.replace('Stmt', '').toUpperCase()} of many rows in one transaction locks them all: ` +
        'do it in batches while the services run',
    ];
  return [`${kind}: not known to be safe`];
}

/**
 * Checks that the previous release can keep running on the migrated database (expand, migrate, contract), and that no
 * statement holds a lock for long. Refuses what is not known to be safe.
 * @param migrations in any order
 * @param releases the last migration of each release, oldest first: those up to the first had no release before them
 * @throws Error if the SQL does not parse
 */
export async function findUnsafe(
  migrations: readonly Migration[],
  releases: readonly string[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const releaseOf = (name: string): number => releases.filter((last) => last < name).length;
  const fresh = Map.groupBy(migrations, ({ name }) => releaseOf(name));
  for (const [release, group] of fresh) {
    if (release === 0 && releases.length > 0) continue;
    const parsed = await Promise.all(
      group.map(async ({ name, sql }) => ({
        name,
        sql,
        statements: ((await parse(sql)).stmts ?? []).flatMap(({ stmt }) => stmt ?? []),
      })),
    );
    const tables = new Set(
      parsed.flatMap(({ statements }) =>
        statements.flatMap((node) => ('CreateStmt' in node ? tableName(node.CreateStmt.relation) : [])),
      ),
    );
    for (const { name, sql, statements } of parsed) {
      const expand = CONTRACT.exec(sql)?.[1];
      const stamping = new Set(
        statements.flatMap((node) =>
          'CreateFunctionStmt' in node && stamps(node.CreateFunctionStmt)
            ? nameOf(node.CreateFunctionStmt.funcname)
            : [],
        ),
      );
      const problems = statements.flatMap((node) =>
        statement(node, { stamping, fresh: tables, contract: expand !== undefined, alone: statements.length === 1 }),
      );
      if (expand !== undefined && !migrations.some((migration) => migration.name === expand))
        problems.push(`its expand step ${expand} is not a migration`);
      else if (expand !== undefined && releaseOf(expand) >= release)
        problems.push(
          `its expand step ${expand} was not released earlier: the previous version still needs what this step removes`,
        );
      findings.push(...problems.map((problem) => ({ migration: name, problem })));
    }
  }
  return findings;
}
