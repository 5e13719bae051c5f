import { encode } from 'uqr';

/** A code as the path of an SVG image, in modules. */
export interface QrPath {
  readonly size: number;
  readonly path: string;
}

/** Level M; a quiet zone of four modules, as the standard asks for. */
export function qrPath(content: string): QrPath {
  const { data, size } = encode(content, { ecc: 'M', border: 4 });
  const rows = data.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join(''));
  return { size, path: rows.join('') };
}
