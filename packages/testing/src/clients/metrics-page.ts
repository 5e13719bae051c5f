/** A sample of a page in Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const LABEL = /(?<name>[a-zA-Z_]\w*)="(?<value>(?:[^"\\]|\\.)*)",?/g;

/**
 * Reads Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/), version 0.0.4.
 * @throws Error with the line that is not a sample
 */
export const parseMetrics = (page: string): readonly Sample[] =>
  page.split('\n').flatMap((line): Sample[] => {
    if (line === '' || line.startsWith('#')) return [];
    const found = LINE.exec(line)?.groups;
    if (!found) throw new Error(`not a sample: ${line}`);
    const labels = Object.fromEntries(
      [...(found['labels'] ?? '').matchAll(LABEL)].map(({ groups }) => [
        groups?.['name'] ?? '',
        groups?.['value'] ?? '',
      ]),
    );
    return [{ name: found['name'] ?? '', labels, value: Number(found['value']?.replace('Inf', 'Infinity')) }];
  });
