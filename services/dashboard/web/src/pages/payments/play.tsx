import { Volume2, VolumeX } from 'lucide-react';
import { useEffect, useState } from 'react';
import { messageOf } from '../../api/error.ts';
import type { Payment } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { notify } from '../../ui/toasts.tsx';

/** What is played now, and when the payment had been detected before. */
interface Playing {
  readonly stop: AbortController;
  readonly detectedBefore: string | null;
}

/** Hands a payment over to a phone nearby by sound, until one has heard it. */
export function Play({ payment: { id, livemode, detectedAt } }: { readonly payment: Payment }) {
  const [playing, setPlaying] = useState<Playing | null>(null);
  useEffect(() => () => playing?.stop.abort(), [playing]);
  useEffect(() => {
    if (playing !== null && playing.detectedBefore !== detectedAt) playing.stop.abort();
  }, [playing, detectedAt]);

  async function play(): Promise<void> {
    const stop = new AbortController();
    setPlaying({ stop, detectedBefore: detectedAt });
    // Few payments are handed over by sound: its code is loaded by those.
    const { announce, SoundError } = await import('@pf/client/sound');
    await announce({ id, livemode }, { signal: stop.signal })
      .catch((error: unknown) => notify(error instanceof SoundError ? error.message : messageOf(error), 'bad'))
      .finally(() => setPlaying(null));
  }

  return playing === null ? (
    <Button icon={<Volume2 size={16} aria-hidden />} onPress={() => void play()}>
      Play to a phone
    </Button>
  ) : (
    <Button icon={<VolumeX size={16} aria-hidden />} onPress={() => playing.stop.abort()}>
      Stop playing
    </Button>
  );
}
