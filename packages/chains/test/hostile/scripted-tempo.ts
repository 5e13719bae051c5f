import type { PaymentTerms } from '@pf/domain';
import { numberToHex } from 'viem';
import { from, transfer, withMemo } from '../tempo/logged.ts';
import { terms } from '../tempo/payments.ts';
import type { At, Shown } from './base.ts';

/** A payment with its memo, as a Tempo node shows it. */
export const payingOnTempo =
  ({ reference }: PaymentTerms) =>
  ({ hash, block, blockHash }: At): Shown => {
    const events = [
      transfer(from, terms.requestor),
      withMemo(from, terms.requestor, terms.amount, terms.tokenAddress, reference),
    ];
    const logs = events.map((event, place) => ({
      ...event,
      blockNumber: numberToHex(block),
      blockHash,
      transactionHash: hash,
      transactionIndex: '0x0',
      logIndex: numberToHex(2 * Number(BigInt(hash)) + place),
      removed: false,
    }));
    const receipt = { transactionHash: hash, status: '0x1', blockNumber: numberToHex(block), blockHash, from, logs };
    return { logs, receipt, transaction: null, trace: null };
  };
