import { base64 } from '@scure/base';
import type { Unsigned } from '../api/schemas.ts';
import { type Checked, refused } from './checked.ts';
import type { Call, TempoCall } from './evm.ts';
import type { Message } from './solana.ts';
import type { Terms } from './terms.ts';

/** What a wallet is asked to sign or send, once it is known to be the payment that the page shows. */
export type Payment = (
  | ({ readonly family: 'solana' } & Message)
  | ({ readonly family: 'base' } & Call)
  | ({ readonly family: 'tempo' } & TempoCall)
) & {
  /** Another account pays the fee, and signs for it after the payer: the wallet must sign, and not send. */
  readonly isSponsored: boolean;
};

/**
 * Decodes a built transaction and compares chain, token, recipient, amount, reference and payer with what the page
 * shows. Nothing reaches a wallet that has not passed here. The decoders are loaded for the chain at hand only.
 */
export async function check({ blob, format }: Unsigned, terms: Terms, payer: string): Promise<Checked<Payment>> {
  const { family } = terms.network;
  if (format !== terms.network.format) return refused('chain');
  let bytes: Uint8Array;
  try {
    bytes = base64.decode(blob);
  } catch {
    // The library says which character is wrong; that helps no payer.
    return refused('malformed');
  }
  if (family === 'solana') {
    const { checkSolana } = await import('./solana.ts');
    return withFamily(family, await checkSolana(bytes, terms, payer));
  }
  const { checkBase, checkTempo } = await import('./evm.ts');
  return family === 'base' ? withFamily(family, checkBase(bytes, terms)) : withFamily(family, checkTempo(bytes, terms));
}

const withFamily = <Family extends string, Kind extends object>(
  family: Family,
  checked: Checked<Kind>,
): Checked<{ readonly family: Family } & Kind> =>
  checked.ok ? { ok: true, payment: { family, ...checked.payment } } : checked;
