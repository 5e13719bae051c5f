import { registerGauge } from '@pf/runtime';
import type { FairSlots } from './fair-slots.ts';

/** Where the attempts to a URL have their slots, by how it responds: none takes any from another. */
export type Pace = 'quick' | 'slow' | 'failing';

/** The slots of a process. */
export type Rooms = Readonly<Record<'live' | 'test', Readonly<Record<Pace, FairSlots>>>>;

type Name = 'payments.delivery.slots.used' | 'payments.delivery.slots.waiting' | 'payments.delivery.slots.size';

/** Measures slots. @returns removes their gauges */
export function watchSlots({ live, test }: Rooms): () => void {
  const rooms = (
    [
      ['true', live],
      ['false', test],
    ] as const
  ).flatMap(([livemode, paces]) =>
    (['quick', 'slow', 'failing'] as const).map((pace) => [paces[pace], { livemode, pace }] as const),
  );
  const watch = (name: Name, read: (slots: FairSlots) => number): (() => void) =>
    registerGauge(name, () => rooms.map(([slots, labels]) => [read(slots), labels] as const));
  const unregister = [
    watch('payments.delivery.slots.used', ({ used }) => used),
    watch('payments.delivery.slots.waiting', ({ waiting }) => waiting),
    watch('payments.delivery.slots.size', ({ size }) => size),
  ];
  return () => {
    for (const end of unregister) end();
  };
}
