import { useEffect, useState } from 'preact/hooks';
import type { Intent } from '../api/schemas.ts';
import { useTranslator } from './context.ts';
import { Icon } from './icon.tsx';
import { Words } from './words.tsx';

/** What is played now, and when the payment had been detected before. */
interface Playing {
  readonly stop: AbortController;
  readonly detectedBefore: string | null;
}

/** Hands the payment over to a phone nearby by sound, until one has heard it. */
export function Play({ intent: { id, livemode, detectedAt } }: { readonly intent: Intent }) {
  const t = useTranslator();
  const [playing, setPlaying] = useState<Playing | null>(null);
  const [isImpossible, setImpossible] = useState(false);
  useEffect(() => () => playing?.stop.abort(), [playing]);
  useEffect(() => {
    if (playing !== null && playing.detectedBefore !== detectedAt) playing.stop.abort();
  }, [playing, detectedAt]);

  async function play(): Promise<void> {
    const stop = new AbortController();
    setPlaying({ stop, detectedBefore: detectedAt });
    try {
      // Few payments are handed over by sound: its code is loaded by those.
      const { announce } = await import('@pf/client/sound');
      await announce({ id, livemode }, { signal: stop.signal });
    } catch {
      // Whatever this browser lacks, the code is there: that it cannot be played is all that a payer needs to know.
      setImpossible(true);
    } finally {
      setPlaying(null);
    }
  }

  if (isImpossible)
    return (
      <p class="muted small" role="status">
        {t('sound.impossible')}
      </p>
    );
  return (
    <div class="sound">
      <button type="button" class="way" onClick={() => (playing === null ? void play() : playing.stop.abort())}>
        <Icon name={playing === null ? 'sound' : 'silence'} />
        <Words class="grow" text={playing === null ? t('sound.play') : t('sound.stop')} />
      </button>
      <p class="muted small" role="status">
        <Words text={playing === null ? '' : t('sound.playing')} />
      </p>
    </div>
  );
}
