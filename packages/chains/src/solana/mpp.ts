import type { Address, PaymentTerms } from '@pf/domain';
import { parsePayload } from '../mpp.ts';
import type { Complete, MppMethod, Network, Parsed, SignedTransaction, Submitted } from '../port.ts';
import { decimalsOf, memoOf } from './payment.ts';
import { tokenProgramOf } from './programs.ts';
import { decodeSigned } from './signed-transaction.ts';

/**
 * Solana by the Machine Payments Protocol: the client signs a transfer with the `externalId` as its memo, or sends it
 * itself. It adds no account of ours to the transfer, so the memo alone names the intent.
 */
export class SolanaMpp implements MppMethod {
  readonly name = 'solana';
  readonly #network: Network;
  readonly #parseSubmitted: (text: string) => Parsed<Submitted>;

  constructor(network: Network, parseSubmitted: (text: string) => Parsed<Submitted>) {
    this.#network = network;
    this.#parseSubmitted = parseSubmitted;
  }

  charge(terms: PaymentTerms): ReturnType<MppMethod['charge']> {
    const { amount, tokenAddress, requestor, reference } = terms;
    return {
      realm: reference,
      request: {
        amount: amount.toString(),
        currency: tokenAddress,
        recipient: requestor,
        externalId: memoOf(terms),
        methodDetails: {
          network: this.#network.livemode ? 'mainnet-beta' : 'devnet',
          decimals: decimalsOf(terms),
          tokenProgram: tokenProgramOf(tokenAddress),
        },
      },
    };
  }

  parse(payload: unknown): Parsed<Complete> {
    return parsePayload(payload, ['transaction', 'transaction'], ['signature', 'signature'], this.#parseSubmitted);
  }

  /** The fee payer, which is the first account. */
  senderOf({ raw }: SignedTransaction): Address | null {
    const decoded = decodeSigned(raw);
    return decoded.ok ? (decoded.value.accounts[0] as string as Address) : null;
  }
}
