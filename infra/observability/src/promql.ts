import { parser } from '@prometheus-io/lezer-promql';

/** A series that an expression selects. */
export interface Selected {
  readonly metric: string;
  /** Labels that are compared with something. */
  readonly labels: readonly string[];
}

/**
 * The series that a PromQL expression selects, by Prometheus' own grammar.
 * @throws Error where it is no PromQL, saying where
 */
export function selected(expression: string): readonly Selected[] {
  const found: { metric: string; labels: string[] }[] = [];
  parser.parse(expression).iterate({
    enter(node) {
      const text = expression.slice(node.from, node.to);
      if (node.type.isError)
        throw new Error(`no PromQL at ${node.from} (${text || 'something is missing'}): ${expression}`);
      if (node.name === 'VectorSelector') found.push({ metric: /^[\w:]+/.exec(text)?.[0] ?? '', labels: [] });
      if (node.name === 'LabelName' && node.node.parent?.name === 'UnquotedLabelMatcher')
        found.at(-1)?.labels.push(text);
    },
  });
  return found;
}
