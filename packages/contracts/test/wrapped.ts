const LINE_WIDTH = 120;

/** A paragraph or list item, broken between words where a line would be too long. Code spans are not broken. */
export function wrapped(text: string): string {
  const indent = text.startsWith('- ') ? '  ' : '';
  const [first = '', ...words] = text.match(/(?:`[^`]*`|\S)+/g) ?? [];
  const lines = [first];
  for (const word of words) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= LINE_WIDTH) lines.splice(-1, 1, line);
    else lines.push(indent + word);
  }
  return lines.join('\n');
}
