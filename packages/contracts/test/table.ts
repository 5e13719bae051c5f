/** A table whose columns are aligned, as Prettier formats it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = head.map((_name, column) => Math.max(3, ...[head, ...rows].map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[], fill: string): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width, fill)).join(' | ')} |`;
  return [line(head, ' '), line([], '-'), ...rows.map((row) => line(row, ' '))];
}
