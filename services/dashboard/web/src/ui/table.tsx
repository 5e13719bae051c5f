import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the right. */
  readonly end?: boolean;
  /** The width of the page below which the column is left out: `phone` 640 px, `tablet` 1000 px. */
  readonly from?: 'phone' | 'tablet';
  /** For columns of buttons: the title is for screen readers only. */
  readonly hideTitle?: boolean;
}

/** A table. Where a row leads somewhere, its first cell has the link, which covers the row. */
export function Table<Row>({
  label,
  rows,
  columns,
  keyOf,
}: {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
}) {
  const classOf = ({ end, from }: Column<Row>): string => `${end ? 'end' : ''} ${from ? `from-${from}` : ''}`;
  return (
    <div className="table-frame">
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={classOf(column)}>
                <span className={column.hideTitle ? 'hidden' : undefined}>{column.title}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.title} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
