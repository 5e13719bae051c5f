import ts from 'typescript';
import { parse } from './source-text.ts';

export interface TestCall {
  readonly file: string;
  readonly line: number;
  readonly kind: 'describe' | 'test';
  /** The blocks around it, outermost first. */
  readonly blocks: readonly { readonly title: string; readonly line: number }[];
  /** What stands before the first substitution; null where the title is an expression. */
  readonly title: string | null;
  /** Whether the title is one whole literal, not a template with substitutions. */
  readonly literal: boolean;
  /** Number of tests and blocks directly in it. */
  readonly children: number;
}

const KINDS: ReadonlyMap<string, TestCall['kind']> = new Map([
  ['describe', 'describe'],
  ['it', 'test'],
  ['test', 'test'],
]);

/** Calls of `describe`, `it` and `test`, with their `.each` forms, in the order of the file. */
export function testCallsOf(file: string, source: ts.SourceFile = parse(file)): readonly TestCall[] {
  const calls: TestCall[] = [];
  const visit = (node: ts.Node, blocks: TestCall['blocks']): number => {
    const kind = ts.isCallExpression(node) ? kindOf(node.expression) : undefined;
    if (kind === undefined || !ts.isCallExpression(node) || node.arguments.length < 2) {
      let count = 0;
      ts.forEachChild(node, (child) => void (count += visit(child, blocks)));
      return count;
    }
    const [first] = node.arguments;
    const { title, literal } = titleOf(first);
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    const position = calls.length;
    const inner = kind === 'describe' ? [...blocks, { title: title ?? '', line }] : blocks;
    let children = 0;
    ts.forEachChild(node, (child) => void (children += visit(child, inner)));
    calls.splice(position, 0, { file, line, kind, blocks, title, literal, children });
    return 1;
  };
  visit(source, []);
  return calls;
}

function kindOf(callee: ts.Expression): TestCall['kind'] | undefined {
  if (ts.isIdentifier(callee)) return KINDS.get(callee.text);
  // it.each(rows)('title', …) and it.each`table`('title', …)
  if (ts.isCallExpression(callee)) return kindOf(callee.expression);
  if (ts.isTaggedTemplateExpression(callee)) return kindOf(callee.tag);
  return ts.isPropertyAccessExpression(callee) ? kindOf(callee.expression) : undefined;
}

function titleOf(argument: ts.Expression | undefined): Pick<TestCall, 'title' | 'literal'> {
  if (argument !== undefined && ts.isStringLiteralLike(argument)) return { title: argument.text, literal: true };
  if (argument !== undefined && ts.isTemplateExpression(argument)) return { title: argument.head.text, literal: false };
  return { title: null, literal: false };
}

/** The title as Jest prints it: those of the blocks, then its own. */
export const fullTitleOf = ({ blocks, title }: TestCall): string =>
  [...blocks.map((block) => block.title), title ?? ''].join(' ');

/** Words that begin a fragment, not a statement about the block's subject. */
const FRAGMENT = new RegExp(
  String.raw`^(?:${[
    'and|as|at(?! most| least)|because|but|by|for|from|how|if|in|into|is (?:because|that|what|where)|nor|not|of|on|or',
    'over|so|than|that|then|these|this|those|though|till|to|until|what|whatever|when|where|which|while|who|whose|why',
    'with|without',
  ].join('|')})\b`,
  'i',
);

/** @returns what is wrong with a test's title, or undefined */
export const faultOf = (title: string): string | undefined => {
  if (title.trim() === '') return 'is empty';
  const fragment = FRAGMENT.exec(title)?.[0];
  return fragment === undefined ? undefined : `begins with “${fragment}”: say what the subject of the block does`;
};
