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
const triggered = (body: string): string =>
  `CREATE FUNCTION service.on_order() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
   CREATE TRIGGER on_order BEFORE INSERT ON service.orders FOR EACH ROW EXECUTE FUNCTION service.on_order()`;
/** The problems of one more migration after release 1.0.0. */
const problemsOf = async (
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
    ['add a nullable column', 'ALTER TABLE service.orders ADD COLUMN gift boolean'],
    [
      'add a column whose default is the same for each row',
      `ALTER TABLE service.orders ADD COLUMN gift boolean NOT NULL DEFAULT false,
         ADD COLUMN made_at timestamptz DEFAULT CURRENT_TIMESTAMP, ADD COLUMN more jsonb DEFAULT '{}'::jsonb`,
    ],
    [
      'create a table and then change it',
      `CREATE TABLE service.gifts (id text PRIMARY KEY, order_id text NOT NULL);
       CREATE UNIQUE INDEX by_order ON service.gifts (order_id);
       ALTER TABLE service.gifts ALTER COLUMN id TYPE varchar(9)`,
    ],
    ['create an index CONCURRENTLY', 'CREATE INDEX CONCURRENTLY by_note ON service.orders (note)'],
    ['make a column nullable', 'ALTER TABLE service.orders ALTER COLUMN total DROP NOT NULL'],
    ['validate a constraint', 'ALTER TABLE service.orders VALIDATE CONSTRAINT positive'],
    ['insert a few rows', `INSERT INTO service.orders (id) VALUES ('first')`],
    ['add a value to an enum', `ALTER TYPE service.color ADD VALUE 'red'`],
    ['stamp rows by a trigger', triggered('NEW.made_at := clock_timestamp(); RETURN NEW;')],
  ])('may %s', async (_what, sql) => {
    expect(await problemsOf(sql)).toEqual([]);
  });

  it.each([
    ['drop a column', 'ALTER TABLE service.orders DROP COLUMN note', /DropColumn note.*contract/],
    ['drop a table', 'DROP TABLE service.orders', /DROP TABLE service.orders.*contract/],
    ['drop an index', 'DROP INDEX CONCURRENTLY service.by_note', /DROP INDEX service.by_note.*contract/],
    ['rename a column', 'ALTER TABLE service.orders RENAME COLUMN note TO remark', /RENAME/],
    ['rename a table', 'ALTER TABLE service.orders RENAME TO purchases', /RENAME/],
    ['make a column NOT NULL', 'ALTER TABLE service.orders ALTER COLUMN note SET NOT NULL', /SetNotNull note.*NULL/],
    [
      'add a NOT NULL column without a default',
      'ALTER TABLE service.orders ADD COLUMN gift boolean NOT NULL',
      /gift NOT NULL without a default/,
    ],
    [
      'change the type of a column',
      'ALTER TABLE service.orders ALTER COLUMN total TYPE bigint',
      /AlterColumnType total/,
    ],
    ['drop a default', 'ALTER TABLE service.orders ALTER COLUMN total DROP DEFAULT', /ColumnDefault total/],
    [
      'add a column whose default differs for each row',
      'ALTER TABLE service.orders ADD COLUMN token uuid DEFAULT gen_random_uuid()',
      /token has a default/,
    ],
    ['add a serial column', 'ALTER TABLE service.orders ADD COLUMN number bigserial', /number writes every row/],
    [
      'add a generated column',
      'ALTER TABLE service.orders ADD COLUMN twice int GENERATED ALWAYS AS (total * 2) STORED',
      /twice writes every row/,
    ],
    ['add a unique column', 'ALTER TABLE service.orders ADD COLUMN code text UNIQUE', /code with a constraint/],
    ['create an index that blocks writes', 'CREATE INDEX by_note ON service.orders (note)', /by_note.*CONCURRENTLY/],
    [
      'create an index CONCURRENTLY beside another statement',
      'CREATE INDEX CONCURRENTLY by_note ON service.orders (note); SELECT 1',
      /by_note.*migration of its own/,
    ],
    ['create a unique index', 'CREATE UNIQUE INDEX CONCURRENTLY one_note ON service.orders (note)', /one_note refuses/],
    [
      'add a constraint that checks all rows',
      'ALTER TABLE service.orders ADD CONSTRAINT positive CHECK (total > 0)',
      /positive.*NOT VALID/,
    ],
    [
      'add a constraint on what the previous version writes',
      'ALTER TABLE service.orders ADD CONSTRAINT positive CHECK (total > 0) NOT VALID',
      /positive refuses/,
    ],
    [
      'refuse rows by a trigger',
      triggered("IF NEW.total < 0 THEN RAISE 'no'; END IF; RETURN NEW;"),
      /TRIGGER on_order may refuse/,
    ],
    ['skip rows by a trigger', triggered('NEW.made_at := clock_timestamp(); RETURN NULL;'), /on_order may refuse/],
    ['update every row', `UPDATE service.orders SET note = ''`, /UPDATE of many rows/],
    ['copy every row', 'INSERT INTO service.orders SELECT * FROM service.orders', /INSERT of many rows/],
    ['rename a value of an enum', `ALTER TYPE service.color RENAME VALUE 'red' TO 'rouge'`, /RENAME VALUE/],
    [
      'run a DO block, whose SQL is not visible',
      "DO $$ BEGIN EXECUTE 'DROP TABLE service.orders'; END $$",
      /DoStmt: not known/,
    ],
    ['do what the check does not know', 'ALTER TABLE service.orders SET UNLOGGED', /SetUnLogged.*not known/],
  ])('may not %s', async (_what, sql, problem) => {
    expect(await problemsOf(sql)).toContainEqual(expect.stringMatching(problem));
  });

  it('is parsed as Postgres parses it, with comments, strings and synonyms', async () => {
    expect(
      await problemsOf(`-- DROP TABLE service.orders\nCOMMENT ON TABLE service.orders IS 'DROP TABLE service.orders';`),
    ).toEqual([]);
    expect(await problemsOf('ALTER TABLE "service"."orders"\n  DROP /* IF */ "note"')).toHaveLength(1);
    await expect(problemsOf('ALTER TABEL service.orders')).rejects.toThrow('syntax error');
  });
});

describe('A contract step', () => {
  const expand: Migration = { name: '2_remark', sql: 'ALTER TABLE service.orders ADD COLUMN remark text' };
  const contract = '-- contract: 2_remark\nALTER TABLE service.orders DROP COLUMN note';

  it('may remove what a released expand step made superfluous', async () => {
    expect(
      await problemsOf(contract, { name: '3_note', before: [FIRST, expand], released: ['1_init', '2_remark'] }),
    ).toEqual([]);
  });

  it('is refused while its expand step is not released', async () => {
    expect(await problemsOf(contract, { name: '3_note', before: [FIRST, expand] })).toEqual([
      expect.stringContaining('2_remark was not released earlier'),
    ]);
  });

  it('is refused without such an expand step', async () => {
    expect(await problemsOf(contract, { name: '3_note' })).toEqual([
      expect.stringContaining('2_remark is not a migration'),
    ]);
  });

  it('may neither rename anything nor block queries', async () => {
    const after = { name: '3_note', before: [FIRST, expand], released: ['1_init', '2_remark'] };
    expect(
      await problemsOf('-- contract: 2_remark\nALTER TABLE service.orders RENAME COLUMN note TO old', after),
    ).toEqual([expect.stringContaining('RENAME')]);
    expect(await problemsOf('-- contract: 2_remark\nDROP INDEX service.by_note', after)).toEqual([
      expect.stringContaining('CONCURRENTLY'),
    ]);
    expect(
      await problemsOf('-- contract: 2_remark\nALTER TABLE service.orders ADD CONSTRAINT one UNIQUE (remark)', after),
    ).toEqual([expect.stringContaining('USING INDEX')]);
  });
});
