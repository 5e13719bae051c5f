import { useId } from 'react';

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** As it is read: `1,250.00 USDC`. */
  readonly text: string;
}

const HEIGHT = 120;
/** Of a bar and the space that it stands in. */
const STEP = 20;
/** Few bars are as narrow as many. */
const widthOf = (bars: number): number => Math.min(16, bars * 0.9);
/** Something is seen to be there, however little it is. */
const LEAST = 2;

/** Bars side by side. Screen readers get a table in their place. */
export function Chart({ title, bars }: { readonly title: string; readonly bars: readonly Bar[] }) {
  const id = useId();
  const width = widthOf(bars.length);
  const highest = bars.reduce<Bar | undefined>(
    (most, bar) => (most && most.value >= bar.value ? most : bar),
    undefined,
  );
  const top = highest?.value ?? 0;
  const heightOf = (value: number): number => (value === 0 ? 0 : Math.max(LEAST, (value / top) * HEIGHT));
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden focusable="false">
        {bars.map(({ label, value, text }, index) => (
          <g key={label}>
            <rect className="slot" x={index * STEP} y={0} width={STEP} height={HEIGHT}>
              <title>{`${label}: ${text}`}</title>
            </rect>
            <rect
              className="bar"
              x={index * STEP + (STEP - width) / 2}
              y={HEIGHT - heightOf(value)}
              width={width}
              height={heightOf(value)}
            />
          </g>
        ))}
      </svg>
      <div className="row apart muted small" aria-hidden>
        <span>{bars[0]?.label}</span>
        {highest && highest.value > 0 && <span>at most {highest.text}</span>}
        <span>{bars.at(-1)?.label}</span>
      </div>
      <div className="hidden">
        <table aria-labelledby={id}>
          <caption id={id}>{title}</caption>
          <tbody>
            {bars.map(({ label, text }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
