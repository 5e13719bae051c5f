import { parser } from '@prometheus-io/lezer-promql';

/** A series selector in an expression. */
export interface Selector {
  readonly metric: string;
  /** The labels in its matchers. */
  readonly labels: readonly string[];
}

/**
 * The series selectors of a PromQL expression, parsed by Prometheus' own grammar.
 * @throws Error with the position when the expression is not valid PromQL
 */
export function selectorsOf(expression: string): readonly Selector[] {
  const found: { metric: string; labels: string[] }[] = [];
  parser.parse(expression).iterate({
    enter(node) {
      const text = expression.slice(node.from, node.to);
      if (node.type.isError)
        throw new Error(`invalid PromQL at offset ${node.from} (${text || 'unexpected end'}): ${expression}`);
      if (node.name === 'VectorSelector') found.push({ metric: /^[\w:]+/.exec(text)?.[0] ?? '', labels: [] });
      if (node.name === 'LabelName' && node.node.parent?.name === 'UnquotedLabelMatcher')
        found.at(-1)?.labels.push(text);
    },
  });
  return found;
}
