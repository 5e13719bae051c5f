import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { findUnsafe, type Migration } from './migration-safety.ts';

const PRISMA = path.join(import.meta.dirname, '../../prisma');
const migrations: readonly Migration[] = readdirSync(path.join(PRISMA, 'migrations'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({ name, sql: readFileSync(path.join(PRISMA, 'migrations', name, 'migration.sql'), 'utf8') }));
/** The last migration of each release, by version. */
const releases = Object.values(
  JSON.parse(readFileSync(path.join(PRISMA, 'releases.json'), 'utf8')) as Readonly<Record<string, string>>,
);

const FIRST: Migration = {
  name: '1_init',
  sql: 'CREATE TABLE service.orders (id text PRIMARY KEY, note text, total int NOT NULL DEFAULT 0);',
};
/** What is found in one more migration after release 1.0.0. */
const judge = async (
  sql: string,
  { name = '2_next', before = [FIRST], released = ['1_init'] } = {},
): Promise<readonly string[]> => (await findUnsafe([...before, { name, sql }], released)).map(({ problem }) => problem);

describe('The migrations', () => {
  it('are compatible with the released version before them', async () => {
    expect(await findUnsafe(migrations, releases)).toEqual([]);
  });

  it('are released in order', () => {
    expect(releases).toEqual(
      migrations
        .map(({ name }) => name)
        .filter((name) => releases.includes(name))
        .sort(),
    );
    expect(new Set(releases).size).toBe(releases.length);
  });
});

describe('A migration that runs beside the previous version', () => {
  it.each([
    ['a column that may be empty', 'ALTER TABLE service.orders ADD COLUMN gift boolean'],
    [
      'a column whose default is the same for each row',
      `ALTER TABLE service.orders ADD COLUMN gift boolean NOT NULL DEFAULT false,
         ADD COLUMN made_at timestamptz DEFAULT CURRENT_TIMESTAMP, ADD COLUMN more jsonb DEFAULT '{}'::jsonb`,
    ],
    [
      'a table with all that belongs to it',
      `CREATE TABLE service.gifts (id text PRIMARY KEY, order_id text NOT NULL);
       CREATE UNIQUE INDEX by_order ON service.gifts (order_id);
       ALTER TABLE service.gifts ALTER COLUMN id TYPE varchar(9)`,
    ],
    ['an index built while others write', 'CREATE INDEX CONCURRENTLY by_note ON service.orders (note)'],
    ['a column that may be empty from now on', 'ALTER TABLE service.orders ALTER COLUMN total DROP NOT NULL'],
    ['a constraint that was added before, checked', 'ALTER TABLE service.orders VALIDATE CONSTRAINT positive'],
    ['a few rows', `INSERT INTO service.orders (id) VALUES ('first')`],
    ['one more value', `ALTER TYPE service.color ADD VALUE 'red'`],
  ])('may bring %s', async (_what, sql) => {
    expect(await judge(sql)).toEqual([]);
  });

  it.each([
    ['drop a column', 'ALTER TABLE service.orders DROP COLUMN note', /DropColumn note.*contract/],
    ['drop a table', 'DROP TABLE service.orders', /DROP TABLE service.orders.*contract/],
    ['drop an index', 'DROP INDEX CONCURRENTLY service.by_note', /DROP INDEX service.by_note.*contract/],
    ['rename a column', 'ALTER TABLE service.orders RENAME COLUMN note TO remark', /RENAME/],
    ['rename a table', 'ALTER TABLE service.orders RENAME TO purchases', /RENAME/],
    ['demand a value', 'ALTER TABLE service.orders ALTER COLUMN note SET NOT NULL', /SetNotNull note.*NULL/],
    [
      'demand a value of a new column',
      'ALTER TABLE service.orders ADD COLUMN gift boolean NOT NULL',
      /gift NOT NULL without a default/,
    ],
    ['change a type', 'ALTER TABLE service.orders ALTER COLUMN total TYPE bigint', /AlterColumnType total/],
    ['take a default away', 'ALTER TABLE service.orders ALTER COLUMN total DROP DEFAULT', /ColumnDefault total/],
    [
      'give each row another default',
      'ALTER TABLE service.orders ADD COLUMN token uuid DEFAULT gen_random_uuid()',
      /token has a default/,
    ],
    ['number the rows', 'ALTER TABLE service.orders ADD COLUMN number bigserial', /number rewrites every row/],
    [
      'compute a column',
      'ALTER TABLE service.orders ADD COLUMN twice int GENERATED ALWAYS AS (total * 2) STORED',
      /twice rewrites every row/,
    ],
    ['add a unique column', 'ALTER TABLE service.orders ADD COLUMN code text UNIQUE', /code with a constraint/],
    [
      'build an index while writes are locked out',
      'CREATE INDEX by_note ON service.orders (note)',
      /by_note.*CONCURRENTLY/,
    ],
    [
      'build an index in a transaction',
      'CREATE INDEX CONCURRENTLY by_note ON service.orders (note); SELECT 1',
      /by_note.*migration of its own/,
    ],
    ['make something unique', 'CREATE UNIQUE INDEX CONCURRENTLY one_note ON service.orders (note)', /one_note refuses/],
    [
      'check all rows at once',
      'ALTER TABLE service.orders ADD CONSTRAINT positive CHECK (total > 0)',
      /positive.*NOT VALID/,
    ],
    [
      'check what the former version writes',
      'ALTER TABLE service.orders ADD CONSTRAINT positive CHECK (total > 0) NOT VALID',
      /positive refuses/,
    ],
    ['write every row', `UPDATE service.orders SET note = ''`, /UPDATE of many rows/],
    ['copy every row', 'INSERT INTO service.orders SELECT * FROM service.orders', /INSERT of many rows/],
    ['rename a value', `ALTER TYPE service.color RENAME VALUE 'red' TO 'rouge'`, /RENAME VALUE/],
    ['do what cannot be read', "DO $$ BEGIN EXECUTE 'DROP TABLE service.orders'; END $$", /DoStmt: not known/],
    ['do what no rule knows', 'ALTER TABLE service.orders SET UNLOGGED', /SetUnLogged.*not known/],
  ])('may not %s', async (_what, sql, problem) => {
    expect(await judge(sql)).toContainEqual(expect.stringMatching(problem));
  });

  it('is parsed as Postgres parses it: comments, strings and synonyms hide nothing', async () => {
    expect(
      await judge(`-- DROP TABLE service.orders\nCOMMENT ON TABLE service.orders IS 'DROP TABLE service.orders';`),
    ).toEqual([]);
    expect(await judge('ALTER TABLE "service"."orders"\n  DROP /* IF */ "note"')).toHaveLength(1);
    await expect(judge('ALTER TABEL service.orders')).rejects.toThrow('syntax error');
  });
});

describe('A contract step', () => {
  const expand: Migration = { name: '2_remark', sql: 'ALTER TABLE service.orders ADD COLUMN remark text' };
  const contract = '-- contract: 2_remark\nALTER TABLE service.orders DROP COLUMN note';

  it('removes what a released expand step made superfluous', async () => {
    expect(
      await judge(contract, { name: '3_note', before: [FIRST, expand], released: ['1_init', '2_remark'] }),
    ).toEqual([]);
  });

  it('is refused while its expand step is not released', async () => {
    expect(await judge(contract, { name: '3_note', before: [FIRST, expand] })).toEqual([
      expect.stringContaining('2_remark is of no earlier release'),
    ]);
  });

  it('is refused without such an expand step', async () => {
    expect(await judge(contract, { name: '3_note' })).toEqual([expect.stringContaining('2_remark is no migration')]);
  });

  it('renames nothing and blocks no query', async () => {
    const after = { name: '3_note', before: [FIRST, expand], released: ['1_init', '2_remark'] };
    expect(await judge('-- contract: 2_remark\nALTER TABLE service.orders RENAME COLUMN note TO old', after)).toEqual([
      expect.stringContaining('RENAME'),
    ]);
    expect(await judge('-- contract: 2_remark\nDROP INDEX service.by_note', after)).toEqual([
      expect.stringContaining('CONCURRENTLY'),
    ]);
    expect(
      await judge('-- contract: 2_remark\nALTER TABLE service.orders ADD CONSTRAINT one UNIQUE (remark)', after),
    ).toEqual([expect.stringContaining('USING INDEX')]);
  });
});
