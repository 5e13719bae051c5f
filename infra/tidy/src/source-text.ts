import ts from 'typescript';
import { read } from './repository.ts';

/** A piece of text that people read, with the line (from 1) on which it begins. */
export interface Passage {
  readonly file: string;
  readonly line: number;
  readonly kind: 'comment' | 'string' | 'document';
  readonly text: string;
}

const TEXT_TOKENS = new Set([
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateHead,
  ts.SyntaxKind.TemplateMiddle,
  ts.SyntaxKind.TemplateTail,
  ts.SyntaxKind.JsxText,
]);
const isModuleName = (node: ts.Node): boolean =>
  ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent) || ts.isImportTypeNode(node.parent.parent);
const isScript = (file: string): boolean => /\.(tsx?|mjs)$/.test(file);

const parsed = new Map<string, ts.SourceFile>();

export function parse(file: string): ts.SourceFile {
  let source = parsed.get(file);
  if (source === undefined) {
    source = ts.createSourceFile(file, read(file), ts.ScriptTarget.ESNext, true);
    parsed.set(file, source);
  }
  return source;
}

/** Comments and strings of TypeScript and JavaScript; the whole of any other file. */
export function passagesOf(file: string): readonly Passage[] {
  if (!isScript(file)) return [{ file, line: 1, kind: 'document', text: read(file) }];
  const source = parse(file);
  const passages: Passage[] = [];
  const add = (kind: Passage['kind'], position: number, text: string): void => {
    passages.push({ file, kind, text, line: source.getLineAndCharacterOfPosition(position).line + 1 });
  };
  const visit = (node: ts.Node): void => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = node.getChildren(source);
    if (children.length > 0) return children.forEach(visit);
    const trivia = source.text.slice(node.getFullStart(), node.getStart(source));
    if (trivia.trim() !== '') add('comment', node.getFullStart(), trivia);
    if (TEXT_TOKENS.has(node.kind) && !isModuleName(node)) add('string', node.getStart(source), node.getText(source));
  };
  visit(source);
  return passages;
}

/** The line (from 1) of an offset into a passage. */
export const lineOf = ({ line, text }: Passage, offset: number): number =>
  line + (text.slice(0, offset).match(/\n/g)?.length ?? 0);
