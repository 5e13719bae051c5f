import { type CreateIntentRequest, type Differences } from '@pf/contracts';
import { resolveChain, resolveToken } from '@pf/chains';
import { isAmountFor, parseAmount, type PublicIntent } from '@pf/domain';
import type { Adapters } from './intents/lookup.ts';

type Term = string | number | null;
type Terms = Readonly<Record<string, Term>>;

/** The body of a repeated create: what exists, and what the repeat asked for otherwise. */
export const replayedBody = <Body extends object>(body: Body, differs: Differences) => ({
  ...body,
  replayed: true,
  ...(Object.keys(differs).length > 0 && { differs }),
});

/** Where two lists of terms differ; amounts are compared as numbers. What one of them lacks is null. */
export function differencesOf(existing: Terms, requested: Terms): Differences {
  const fields = [...new Set([...Object.keys(requested), ...Object.keys(existing)])];
  return Object.fromEntries(
    fields.flatMap((field) => {
      const [before, now] = [existing[field] ?? null, requested[field] ?? null];
      const isSame = field === 'amount' ? plain(before) === plain(now) : before === now;
      return isSame ? [] : [[field, { existing: before, requested: now }]];
    }),
  );
}

/** An amount without the zeros that do not count. */
const plain = (amount: Term): string => String(amount).replace(/(?:\.0+|(\.\d*?)0+)$/, '$1');

/** A list or map as terms by path: `metadata.order`, `offers.0.chain`. */
export const termsAt = (name: string, values: object | null): Terms =>
  Object.fromEntries(
    Object.entries(values ?? {}).flatMap(([key, value]: [string, Term | object]) =>
      typeof value === 'object' && value !== null
        ? Object.entries(termsAt(`${name}.${key}`, value))
        : [[`${name}.${key}`, value]],
    ),
  );

/**
 * What a repeated create asks for otherwise than its intent has now. A payer may have become the fulfiller, and
 * metadata been added, since the first request: only what the repeat names of them is compared.
 */
export function differencesOfIntent(
  adapters: Adapters,
  {
    chain,
    token,
    amount,
    requestor,
    fulfiller,
    direction,
    attribution,
    accept,
    ttlSeconds,
    metadata,
  }: CreateIntentRequest,
  intent: PublicIntent,
): Differences {
  // The chain and the token may no longer be available: then they are compared as they are written.
  const network = resolveChain(chain, intent.livemode);
  const wallet = (text: string): string => {
    const parsed = network && adapters.get(network.chain)?.parseAddress(text);
    return parsed?.ok ? parsed.value : text;
  };
  const resolved = network && resolveToken(network, token);
  const asked = metadata ?? {};
  return differencesOf(
    {
      chain: intent.chain,
      token: intent.token,
      amount: intent.amount,
      requestor: intent.requestor,
      direction: intent.direction,
      attribution: intent.attribution ?? 'reference',
      accept: intent.accept ?? 'exact',
      ttlSeconds: intent.ttlSeconds,
      ...(fulfiller && { fulfiller: intent.fulfiller }),
      ...termsAt(
        'metadata',
        Object.fromEntries(Object.entries(intent.metadata ?? {}).filter(([key]) => Object.hasOwn(asked, key))),
      ),
    },
    {
      chain: network?.chain ?? chain,
      token: resolved?.symbol ?? token,
      amount: isReservedFor(amount, intent, resolved?.decimals) ? intent.amount : amount,
      requestor: wallet(requestor),
      direction,
      attribution: attribution ?? 'reference',
      accept: accept ?? 'exact',
      ttlSeconds,
      ...(fulfiller && { fulfiller: wallet(fulfiller) }),
      ...termsAt('metadata', asked),
    },
  );
}

/** Whether the intent's amount is the one that was asked for, and what was added so that no other intent has it. */
function isReservedFor(
  asked: string,
  { attribution, amountBaseUnits }: PublicIntent,
  decimals: number | undefined,
): boolean {
  if (attribution !== 'amount' || decimals === undefined) return false;
  const baseUnits = parseAmount(asked, decimals);
  return typeof baseUnits === 'bigint' && isAmountFor(baseUnits, BigInt(amountBaseUnits), decimals);
}
