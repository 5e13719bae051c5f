import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Network } from '@pf/chains/networks';
import { accentOf } from '../format/color.ts';
import { walletsOn } from '../wallets/load.ts';
import type { Wallet, Wallets } from '../wallets/wallet.ts';

/** What a source has, now and whenever it changes. */
export function useSource<Value>(
  source: { readonly get: () => Value; readonly subscribe: (listener: () => void) => () => void } | null,
  empty: Value,
): Value {
  const [, setCount] = useState(0);
  // In the task of the render: an effect runs after the paint, and what changed until then would never be shown.
  useLayoutEffect(() => source?.subscribe(() => setCount((count) => count + 1)), [source]);
  return source === null ? empty : source.get();
}

const NONE: readonly Wallet[] = [];

/** The wallets for a network. */
export function useWallets(network: Network): readonly Wallet[] {
  const [wallets, setWallets] = useState<Wallets | null>(null);
  useEffect(() => {
    let isWanted = true;
    walletsOn(network).then(
      (loaded) => isWanted && setWallets(loaded),
      // Offline: the other ways to pay are there, and a reload tries again.
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [network]);
  return useSource(wallets, NONE);
}

/** The time, once a second while it is wanted. */
export function useNow(clock: () => number): number {
  const [now, setNow] = useState(clock);
  useEffect(() => {
    const timer = setInterval(() => setNow(clock()), 1_000);
    return () => clearInterval(timer);
  }, [clock]);
  return now;
}

/** Sets the title in the task of the render, as the rest of the page: after the paint it would lag behind. */
export function useTitle(title: string): void {
  useLayoutEffect(() => {
    document.title = title;
  }, [title]);
}

/** Sets the merchant's color by script: a style in the page's text would be refused by its policy. */
export function useAccent(color: string | null): void {
  useEffect(() => {
    const { light, onLight, dark, onDark } = accentOf(color);
    const { style } = document.documentElement;
    const all = { 'accent-light': light, 'on-accent-light': onLight, 'accent-dark': dark, 'on-accent-dark': onDark };
    for (const [property, value] of Object.entries(all)) style.setProperty(`--${property}`, value);
  }, [color]);
}
