/** A column of a Parquet file. */
interface Column<Of> {
  /** Its type in the file. */
  readonly type: string;
  /** From the staged column of the same name, where that has another type. */
  readonly from?: string;
  readonly staged: 'VARCHAR' | 'INTEGER' | 'BIGINT' | 'BOOLEAN';
  readonly value: (row: Of) => string | number | bigint | boolean | null;
}
/** The columns of a kind of files, by name. New ones are added at the end. */
export type Columns<Of> = Readonly<Record<string, Column<Of>>>;

export const text = <Of>(value: (row: Of) => string | null | undefined): Column<Of> => ({
  type: 'VARCHAR',
  staged: 'VARCHAR',
  value: (row) => value(row) ?? null,
});
export const integer = <Of>(value: (row: Of) => number | null): Column<Of> => ({
  type: 'INTEGER',
  staged: 'INTEGER',
  value,
});
export const boolean = <Of>(value: (row: Of) => boolean | null): Column<Of> => ({
  type: 'BOOLEAN',
  staged: 'BOOLEAN',
  value,
});
/** In UTC: a type with a zone needs an extension of DuckDB for the simplest of its functions. */
export const time = <Of>(name: string, milliseconds: (row: Of) => number | null): Column<Of> => ({
  type: 'TIMESTAMP',
  staged: 'BIGINT',
  from: `make_timestamp("${name}")`,
  value(row) {
    const at = milliseconds(row);
    return at === null ? null : BigInt(at) * 1000n;
  },
});

/** `name type, …`, for a table without files. */
export const columnList = <Of>(columns: Columns<Of>): string =>
  Object.entries(columns)
    .map(([name, { type }]) => `"${name}" ${type}`)
    .join(', ');
/** The same of the table in which rows wait to be written. */
export const stagedAs = <Of>(columns: Columns<Of>): string =>
  Object.entries(columns)
    .map(([name, { staged }]) => `"${name}" ${staged}`)
    .join(', ');
export const selectedFrom = <Of>(columns: Columns<Of>): string =>
  Object.entries(columns)
    .map(([name, { from }]) => `${from ?? `"${name}"`} AS "${name}"`)
    .join(', ');
