import { isCalled } from '@pf/chains/networks';
import type { Mode } from '../api/client.ts';
import { ExplainedError } from '../api/error.ts';
import type { PaymentLink } from '../api/types.ts';
import { networkLabel, networksOf } from './networks.ts';

/** `USDC on Base Sepolia` */
export const offerLabel = ({ token, chain }: Pick<Offerable, 'token' | 'chain'>): string =>
  `${token} on ${networkLabel(chain)}`;

/** The tokens that its offers take: `USDC`, `EURC or USDC`. */
export const tokensOf = ({ offers }: Pick<PaymentLink, 'offers'>): string =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format([...new Set(offers.map(({ token }) => token))].toSorted());

/** A way to be paid that an account can offer. */
export interface Offerable {
  readonly chain: string;
  readonly token: string;
  readonly requestor: string;
  /** It is Circle's dollar, which most payers have: ticked at first. */
  readonly isUsual: boolean;
}

/** Each token of each network on which the account has a wallet. @param wallets by family of networks */
export const offerable = (mode: Mode, wallets: Readonly<Record<string, string | null>>): readonly Offerable[] =>
  networksOf(mode).flatMap(({ chain, family, tokens }) => {
    const requestor = wallets[family];
    if (!requestor) return [];
    return tokens.map((token) => ({ chain, token: token.symbol, requestor, isUsual: isCalled(token, 'USDC') }));
  });

/**
 * Metadata as it is typed: a line for each `key=value`.
 * @throws ExplainedError that names the line which is none
 */
export function metadataIn(text: string): Readonly<Record<string, string>> | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const entries = lines.map((line) => {
    const sign = line.indexOf('=');
    const key = line.slice(0, Math.max(0, sign)).trim();
    if (key === '') throw new ExplainedError(`Metadata is written as key=value: “${line.trim()}” is not.`);
    return [key, line.slice(sign + 1).trim()] as const;
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
