import { z } from 'zod';
import { arm } from '../armed.ts';
import { ControlError } from '../control-error.ts';
import type {
  PaymentFilter,
  Armed,
  ChainControls,
  Held,
  Orphaned,
  Payment,
  ReorgOptions,
  AffectedPayment,
} from '../controls.ts';
import { anything, type Node } from '../node.ts';
import { pause } from '@pf/runtime';

/** Between looks at what has met a fault. */
const LOOK_MS = 100;
/** Every payment of the service carries its reference as a memo; what funds wallets does not go by this program. */
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

/** Wherever a confirmed one was taken back, it may land again on another branch for 150 slots. */
const LOST_FOR_SECONDS = 70;
const place = z.object({ processed: z.number(), finalized: z.number(), running: z.boolean() });
const target = z.object({
  payer: z.string().optional(),
  mentions: z.string().optional(),
  signature: z.string().optional(),
});
const faults = z.object({
  pending: z.array(z.object({ id: z.number(), kind: z.string(), target })),
  struck: z.array(z.object({ id: z.number(), signature: z.string(), payer: z.string(), memo: z.string().nullable() })),
});
const signatures = z.array(z.string());
const statuses = z.object({ value: z.tuple([z.object({ slot: z.number() }).nullable()]) });
const id = z.number();
const inWords = ({ payer, mentions, signature }: z.infer<typeof target>): string =>
  [payer && `of ${payer}`, mentions && (mentions === MEMO ? 'the next payment' : `naming ${mentions}`), signature]
    .filter(Boolean)
    .join(', ') || 'the next transaction';

/** The controls of the local Solana node (packages/local-solana). */
export function solanaControls(node: Node): ChainControls {
  const look = () => node.call(faults, 'local_faults');
  const order = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    node.call(anything, method, ...params);

  /** @returns its version @throws ControlError where it is no local node */
  async function requireLocal(): Promise<string> {
    // A slot that no client asks for: the method is the local node's own, and changes nothing.
    await look().catch((cause: unknown) => {
      if (!(cause instanceof ControlError) || !cause.message.startsWith('local_faults:')) throw cause;
      throw new ControlError(`The node at ${new URL(node.url).host} is no local chain: it has no controls`, {
        cause,
      });
    });
    const version = await node.call(z.record(z.string(), z.unknown()), 'getVersion');
    return `local Solana ${String(version['solana-core'])}`;
  }

  /** Arms a fault, waits until a transaction has met it, and goes on with that one. */
  async function strike<T>(
    method: string,
    { payer, reference }: PaymentFilter,
    then: (payment: Payment) => Promise<T>,
  ): Promise<Armed<T>> {
    await requireLocal();
    const fault = await node.call(id, method, {
      ...(payer !== undefined && { payer }),
      mentions: reference ?? MEMO,
      count: 1,
    });
    return arm(async (ending) => {
      try {
        while (!ending.aborted) {
          const { pending, struck } = await look();
          const met = struck.find((one) => one.id === fault);
          if (met) return await then({ hash: met.signature, payer: met.payer, reference: met.memo });
          if (!pending.some((one) => one.id === fault))
            throw new ControlError('The chain was healed meanwhile: this control has ended');
          await pause(LOOK_MS, ending);
        }
        return null;
      } finally {
        await order('local_disarm', fault);
      }
    });
  }

  async function takeBack(slots: number, { lose }: ReorgOptions): Promise<Orphaned> {
    const transactions = await node.call(signatures, 'local_reorg', slots, { requeue: !lose });
    // Their blockhashes are dead: whoever sends them again does it in vain.
    if (lose) await order('local_expire');
    return { blocks: slots, transactions, provenWithinSeconds: lose ? LOST_FOR_SECONDS : 0 };
  }

  /** Stops the clock. @returns how many slots are not final, and what lets it go on as before */
  async function standStill(): Promise<{ readonly open: number; readonly goOn: () => Promise<void> }> {
    await requireLocal();
    const { running } = await node.call(place, 'local_clock');
    const { processed, finalized } = await node.call(place, 'local_pause');
    return { open: processed - finalized, goOn: async () => void (running && (await order('local_resume'))) };
  }

  return {
    drop: (aim) =>
      strike('local_drop', aim, async (payment): Promise<AffectedPayment> => {
        await order('local_expire');
        return {
          ...payment,
          how: 'no leader took it, and 151 slots passed at once: its blockhash is dead',
          provenFrom: null,
        };
      }),
    fail: (aim) =>
      strike('local_fail', aim, async (payment): Promise<AffectedPayment> => ({
        ...payment,
        how: "its payer's token account was frozen at that moment, and the token program refused it",
        provenFrom: null,
      })),
    hold: (aim) =>
      strike('local_hold', aim, async (payment): Promise<Held> => ({
        ...payment,
        async orphan(options) {
          try {
            // No slot more: with those before it, the blockhash that it was signed on would be gone.
            const [status] = (await node.call(statuses, 'getSignatureStatuses', [payment.hash])).value;
            const { processed } = await node.call(place, 'local_clock');
            if (status === null) throw new ControlError(`${payment.hash} is in no slot any more`);
            return await takeBack(processed - status.slot + 1, options);
          } finally {
            await order('local_resume');
          }
        },
        release: async () => void (await order('local_resume')),
      })),
    async reorg(depth, options) {
      const { open, goOn } = await standStill();
      try {
        if ((depth ?? 1) > open)
          throw new ControlError(`All but ${open} slots are final: at most ${open} can be taken back`);
        return await takeBack(depth ?? open, options);
      } finally {
        await goOn();
      }
    },
    stall: async () => (await standStill()).goOn,
    async finalize() {
      await requireLocal();
      return (await node.call(place, 'local_finalize')).finalized;
    },
    async heal() {
      await requireLocal();
      await order('local_heal');
      await order('local_resume');
    },
    async state() {
      const version = await requireLocal();
      const [{ processed, finalized, running }, { pending }] = await Promise.all([
        node.call(place, 'local_clock'),
        look(),
      ]);
      return {
        node: version,
        head: processed,
        final: finalized,
        clock: running ? 'running' : 'held',
        armed: pending.map((one) => `${one.kind}: ${inWords(one.target)}`),
      };
    },
  };
}
