import { UnprocessableError } from './errors.ts';
import type { BuiltIntent, SubmittedIntent, Transaction } from './types.ts';

/** How often the wallet of one payment is asked. */
const SIGNED_MAX = 3;

/** How a wallet pays that signs and does not send. */
export interface Payment {
  /** The wallet. May be left out if the intent has a fulfiller. */
  readonly fulfiller?: string;
  /** Another account pays the fee. */
  readonly sponsored?: boolean;
  /**
   * Asks the wallet: returns the signed transaction. Called again with another transaction if the person took longer
   * than the first one lived.
   */
  readonly sign: (transaction: Transaction) => Promise<string>;
}

interface Steps<Intent> {
  readonly build: (body: Omit<Payment, 'sign'>) => Promise<BuiltIntent<Intent>>;
  readonly submit: (body: {
    readonly signedTransaction: string;
    readonly fulfiller?: string;
  }) => Promise<SubmittedIntent<Intent>>;
}

/**
 * Builds, has it signed, submits. What was refused because it can no longer land is nowhere but at the service, so a
 * new one is signed: the service builds other bytes only where nothing is under way.
 */
export async function pay<Intent>({ sign, ...body }: Payment, { build, submit }: Steps<Intent>) {
  const { fulfiller } = body;
  const named = fulfiller === undefined ? {} : { fulfiller };
  let { transaction } = await build(body);
  for (let signed = 1; ; signed += 1) {
    const signedTransaction = await sign(transaction);
    try {
      return await submit({ signedTransaction, ...named });
    } catch (error) {
      const isRejected = error instanceof UnprocessableError && error.code === 'transaction.rejected';
      if (!isRejected || signed === SIGNED_MAX) throw error;
      const { blob } = transaction;
      ({ transaction } = await build(body));
      // It was refused for another reason than its age.
      if (transaction.blob === blob) throw error;
    }
  }
}
