import { useMemo, useState } from 'preact/hooks';
import type { Code } from '../pay/codes.ts';
import { useTranslator } from './context.ts';
import { qrPath } from './qr-path.ts';

/** The codes of a payment, one at a time. */
export default function Qr({ codes }: { readonly codes: readonly Code[] }) {
  const t = useTranslator();
  const [chosen, setChosen] = useState(codes[0]?.kind);
  const code = codes.find(({ kind }) => kind === chosen) ?? codes[0];
  const drawn = useMemo(() => qrPath(code?.content ?? ''), [code?.content]);
  if (!code) return null;
  return (
    <div class="qr">
      {codes.length > 1 && (
        <div class="tabs" role="group" aria-label={t('qr.alt')}>
          {codes.map(({ kind }) => (
            <button key={kind} type="button" aria-pressed={kind === code.kind} onClick={() => setChosen(kind)}>
              {t(`qr.tab.${kind}`)}
            </button>
          ))}
        </div>
      )}
      <svg
        class="qr-image"
        viewBox={`0 0 ${drawn.size} ${drawn.size}`}
        role="img"
        aria-label={t('qr.alt')}
        shape-rendering="crispEdges"
      >
        <rect class="qr-light" width={drawn.size} height={drawn.size} />
        <path class="qr-dark" d={drawn.path} />
      </svg>
      <p class="muted small">{t(`qr.${code.kind}`)}</p>
    </div>
  );
}
