/** HTML. Only `html` makes it: any other text that is put into a page is escaped. */
class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
export type { Html };

const escaped = (text: string): string => text.replaceAll(/[&<>"'`=]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A template of HTML. Attributes need their quotes in it. */
export const html = (parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html =>
  new Html(
    parts.reduce((page, part, index) => {
      const value = values[index - 1] ?? '';
      const all = typeof value === 'string' ? [escaped(value)] : [value].flat().map(({ text }) => text);
      return `${page}${all.join('')}${part}`;
    }),
  );
