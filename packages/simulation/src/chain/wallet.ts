import { encodePayment } from '@pf/chains/base';
import type { Address, PaymentTerms, TokenAddress } from '@pf/domain';
import { getAddress } from 'ethers/address';
import { Transaction } from 'ethers/transaction';
import type { SimulatedChain } from './chain.ts';
import { callOf, CONTRACT, encodeCalls, type Payment, sign, type SimulatedTransaction } from './transaction.ts';

/** What a payer signs by hand. */
export type PaymentByHand = Pick<PaymentTerms, 'tokenAddress' | 'requestor' | 'amount' | 'reference'>;

const FEE = 10n ** 9n;
/** Enough to replace any fee before. */
const raised = (fee: bigint): bigint => fee * 2n;

/** A payer's wallet, outside of the service: it signs what it likes, and can send by itself. */
export class SimulatedWallet {
  readonly address: Address;
  readonly #chain: SimulatedChain;
  #next = 0;

  /** @param index which of the payers: gives it an address of its own */
  constructor(chain: SimulatedChain, index: number) {
    this.#chain = chain;
    this.address = getAddress(`0x${(0xfa00_0000 + index).toString(16).padStart(40, 'f')}`) as Address;
  }

  fund(token: TokenAddress, amount: bigint): this {
    this.#chain.fund(this.address, token, amount);
    return this;
  }

  /** Signs the bytes that the service built: base64. */
  signBuilt(blob: string): SimulatedTransaction {
    const unsigned = Transaction.from(`0x${Buffer.from(blob, 'base64').toString('hex')}`);
    this.#next = Math.max(this.#next, unsigned.nonce + 1);
    return sign(unsigned, this.address);
  }

  /** Signs a payment by hand. @param nonce default: the account's next */
  pay(terms: PaymentByHand, nonce: number = this.#next): SimulatedTransaction {
    return this.#signed(nonce, FEE, terms.tokenAddress, encodePayment(terms.requestor, terms.amount, terms.reference));
  }

  /** Signs a transfer that names no intent, as an exchange pays out. */
  payPlainly({ tokenAddress, requestor, amount }: Omit<PaymentByHand, 'reference'>): SimulatedTransaction {
    return this.#signed(this.#next, FEE, tokenAddress, callOf({ to: requestor, amount, reference: null }));
  }

  /** Signs a call of the contract, which has accounts pay in this order, all or none. More: see encodeCalls */
  payThrough(payments: readonly Payment[], noise?: string, isHidden?: boolean): SimulatedTransaction {
    return this.#signed(this.#next, FEE, CONTRACT, encodeCalls(payments, noise, isHidden));
  }

  /** Signs another payment for the same nonce, with a higher fee: at most one of the two lands. */
  replace({ nonce, maxFee }: SimulatedTransaction, terms: PaymentByHand): SimulatedTransaction {
    const data = encodePayment(terms.requestor, terms.amount, terms.reference);
    return this.#signed(nonce, raised(maxFee), terms.tokenAddress, data);
  }

  /** Signs an empty transaction for the same nonce, with a higher fee. */
  cancel({ nonce, maxFee }: SimulatedTransaction): SimulatedTransaction {
    return this.#signed(nonce, raised(maxFee), this.address, '0x');
  }

  /** Sends it without the service. @throws ChainRefusal */
  send({ raw }: SimulatedTransaction): void {
    this.#chain.submit(raw);
  }

  #signed(nonce: number, fee: bigint, to: string, data: string): SimulatedTransaction {
    this.#next = Math.max(this.#next, nonce + 1);
    return sign(
      Transaction.from({
        type: 2,
        chainId: BigInt(this.#chain.options.chain.slice('eip155:'.length)),
        nonce,
        to,
        value: 0n,
        data,
        gasLimit: 100_000n,
        maxFeePerGas: fee,
        maxPriorityFeePerGas: 1_000_000n,
      }),
      this.address,
    );
  }
}
