import { accountJson, type Encoding } from '../account-json.ts';
import { isSame } from '../chain.ts';
import type { Commitment } from '../clock.ts';
import { inContext, type Node } from '../rpc/method.ts';
import { parseWire } from '../wire.ts';

/** A subscription. It is polled after every change for what has become due. */
export interface Subscription {
  /** `signatureNotification`, … */
  readonly notification: string;
  /** The results to send now, oldest first. */
  due(): unknown[];
  /** Whether it has ended. */
  readonly ended?: boolean;
}

/** The most slot notifications after a jump of many slots. */
const MOST_SLOTS = 256;

/** One notification: the transaction has reached the commitment, with its error. */
export function signatureSubscription({ chain }: Node, signature: string, commitment: Commitment): Subscription {
  const subscription = {
    notification: 'signatureNotification',
    ended: false,
    due: () => {
      const landed = chain.transaction(signature);
      if (landed === null || landed.slot > chain.clock.slot(commitment)) return [];
      subscription.ended = true;
      return [inContext(landed.slot, { err: landed.meta.err })];
    },
  };
  return subscription;
}

/** The account, after each change at the commitment. */
export function accountSubscription(
  { chain }: Node,
  address: string,
  commitment: Commitment,
  encoding: Encoding | undefined,
): Subscription {
  let last = chain.account(address, chain.clock.slot(commitment));
  return {
    notification: 'accountNotification',
    due: () => {
      const slot = chain.clock.slot(commitment);
      const account = chain.account(address, slot);
      if (isSame(last, account)) return [];
      last = account;
      const gone = {
        lamports: 0n,
        owner: '11111111111111111111111111111111',
        executable: false,
        data: new Uint8Array(),
      };
      return [
        inContext(
          slot,
          accountJson(account ?? gone, (of) => chain.account(of, slot), { encoding }),
        ),
      ];
    },
  };
}

/** Slot numbers from now on; after a long jump, only the latest. */
function* passing(node: Node, commitment: Commitment, last: { slot: number }): Generator<number> {
  const head = node.chain.clock.slot(commitment);
  for (let slot = Math.max(last.slot + 1, head - MOST_SLOTS + 1); slot <= head; slot += 1) yield slot;
  last.slot = head;
}
/** Every new slot. */
export function slotSubscription(node: Node): Subscription {
  const last = { slot: node.chain.clock.slot() };
  return {
    notification: 'slotNotification',
    due: () =>
      [...passing(node, 'processed', last)].map((slot) => ({
        slot,
        parent: slot - 1,
        root: node.chain.clock.slot('finalized'),
      })),
  };
}
/** Every newly finalized slot. */
export function rootSubscription(node: Node): Subscription {
  const last = { slot: node.chain.clock.slot('finalized') };
  return { notification: 'rootNotification', due: () => [...passing(node, 'finalized', last)] };
}

/** The logs of transactions that reach the commitment: all, or those with an address. */
export function logsSubscription({ chain }: Node, mentions: string | null, commitment: Commitment): Subscription {
  let last = chain.lastSequence();
  return {
    notification: 'logsNotification',
    due: () => {
      const landed = chain.after(last, chain.clock.slot(commitment));
      last = landed.at(-1)?.sequence ?? last;
      return landed
        .filter(
          ({ wire, meta }) =>
            mentions === null ||
            [
              ...parseWire(wire).message.staticAccounts,
              ...meta.loadedAddresses.writable,
              ...meta.loadedAddresses.readonly,
            ].includes(mentions),
        )
        .map(({ slot, signature, meta }) => inContext(slot, { signature, err: meta.err, logs: meta.logMessages }));
    },
  };
}
