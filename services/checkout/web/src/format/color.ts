type Rgb = readonly [number, number, number];

/** WCAG 2.2, 1.4.3: of text. */
const CONTRAST_MIN = 4.5;
const WHITE: Rgb = [255, 255, 255];
/** The dark canvas of the styles, and what is written on light accents. */
const INK: Rgb = [14, 16, 20];
const DEFAULT: Rgb = [79, 70, 229];

/** The colors of a merchant that everything else is readable beside. */
export interface Accent {
  readonly light: string;
  readonly onLight: string;
  readonly dark: string;
  readonly onDark: string;
}

/** A merchant's color, as much darker or lighter as it must be to be read on the page and to be written on. */
export function accentOf(color: string | null): Accent {
  const wanted = read(color) ?? DEFAULT;
  const light = towards(wanted, [0, 0, 0], (shade) => contrast(shade, WHITE) >= CONTRAST_MIN);
  const dark = towards(wanted, WHITE, (shade) => contrast(shade, DARKEST_SURFACE) >= CONTRAST_MIN);
  return {
    light: write(light),
    onLight: write(readable(light)),
    dark: write(dark),
    onDark: write(readable(dark)),
  };
}

/** The lightest surface in dark colors. */
const DARKEST_SURFACE: Rgb = [28, 31, 39];

const readable = (background: Rgb): Rgb => (contrast(background, WHITE) >= CONTRAST_MIN ? WHITE : INK);

function read(color: string | null): Rgb | null {
  const [, ...channels] = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(color ?? '') ?? [];
  const [red, green, blue] = channels.map((channel) => Number.parseInt(channel, 16));
  return red === undefined || green === undefined || blue === undefined ? null : [red, green, blue];
}

const write = (color: Rgb): string => `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;

/** The first mixture of two colors that suffices. */
function towards(from: Rgb, to: Rgb, suffices: (color: Rgb) => boolean): Rgb {
  for (let percent = 0; percent < 100; percent += 2) {
    const mixed = from.map((channel, index) =>
      Math.round(channel + (((to[index] ?? 0) - channel) * percent) / 100),
    ) as unknown as Rgb;
    if (suffices(mixed)) return mixed;
  }
  return to;
}

function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** WCAG 2.2: from 1 to 21. */
function contrast(a: Rgb, b: Rgb): number {
  const [darker, lighter] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}
