import { z } from 'zod';
import { LIFETIME } from '../blockhashes.ts';
import type { Commitment } from '../clock.ts';
import type { Target } from '../faults.ts';
import { heightOf } from '../clock.ts';
import { airdrop, mint } from '../payout.ts';
import { invalidParams } from '../rpc/error.ts';
import { method, type Methods, type Node } from '../rpc/method.ts';
import { address, count, optional, signature, units } from '../rpc/schemas.ts';
import { readMint } from '../token-account.ts';
import { TOKEN, TOKEN_2022, tokens } from '../tokens.ts';

const target = z.strictObject({
  payer: optional(address),
  mentions: optional(address),
  signature: optional(signature),
  count: optional(count.min(1)),
});
const onTarget = z.tuple([optional(target)]);
const nothing = z.tuple([]);
const MOST_SLOTS = 10_000_000;
const slots = z.number().int().min(1).max(MOST_SLOTS);

/** The chain's position: the result of every control of the clock. */
function now({ chain: { clock } }: Node): Record<Commitment | 'blockHeight', number> & { running: boolean } {
  const slot = (commitment: Commitment): number => clock.slot(commitment);
  return {
    processed: slot('processed'),
    confirmed: slot('confirmed'),
    finalized: slot('finalized'),
    blockHeight: heightOf(clock.slot()),
    running: clock.running,
  };
}
const moved = (node: Node, move: () => void): ReturnType<typeof now> => {
  move();
  node.chain.changed();
  return now(node);
};

/** The chain's controls: a real node has no such methods. */
export const controlMethods: Methods = {
  local_drop: method(onTarget, ({ chain }, [on = {} as Target]) => chain.faults.add({ kind: 'drop' }, on)),
  local_fail: method(onTarget, ({ chain }, [on = {} as Target]) => chain.faults.add({ kind: 'fail' }, on)),
  local_hold: method(onTarget, ({ chain }, [on = {} as Target]) => chain.faults.add({ kind: 'hold' }, on)),
  local_delay: method(z.tuple([slots, optional(target)]), ({ chain }, [by, on = {} as Target]) =>
    chain.faults.add({ kind: 'delay', slots: by }, on),
  ),
  local_faults: method(nothing, ({ chain: { faults } }) => ({
    pending: faults.pending.map(({ id, fault, target: on, left }) => ({
      id,
      ...fault,
      target: on,
      left: Number.isFinite(left) ? left : null,
    })),
    struck: faults.affected,
  })),
  local_disarm: method(z.tuple([count]), ({ chain }, [id]) => (chain.faults.remove(id), null)),
  local_heal: method(nothing, (node) => {
    node.chain.faults.clear();
    node.slotsBehind = 0;
    return null;
  }),
  local_behind: method(z.tuple([count]), (node, [by]) => {
    node.slotsBehind = by;
    return null;
  }),
  local_advance: method(z.tuple([optional(slots)]), (node, [by = 1]) =>
    moved(node, () => node.chain.clock.advance(by)),
  ),
  local_finalize: method(nothing, (node) => moved(node, () => node.chain.clock.finalize())),
  local_expire: method(nothing, (node) =>
    moved(node, () => {
      node.chain.clock.advance(LIFETIME + 1);
      node.chain.clock.finalize();
    }),
  ),
  local_clock: method(nothing, now),
  local_pause: method(nothing, (node) => moved(node, () => node.chain.clock.pause())),
  local_resume: method(nothing, (node) => moved(node, () => node.chain.clock.resume())),
  local_reorg: method(
    z.tuple([slots, optional(z.strictObject({ requeue: optional(z.boolean()) }))]),
    (node, [depth, config]) => {
      const { chain } = node;
      const to = chain.clock.slot() - depth;
      if (to < chain.clock.slot('finalized'))
        throw invalidParams(
          `Invalid param: slot ${to + 1} is final; at most ${chain.clock.slot() - chain.clock.slot('finalized')} ` +
            'slots can be taken back',
        );
      const lost = chain.reorganize(to);
      if (config?.requeue === true) chain.requeue(lost);
      return lost.map((one) => one.signature);
    },
  ),
  local_mint: method(
    z.tuple([address, z.union([z.enum(Object.keys(tokens) as (keyof typeof tokens)[]), address]), units]),
    async ({ chain }, [owner, token, amount]) => {
      const of = token in tokens ? tokens[token as keyof typeof tokens] : token;
      const account = chain.account(of);
      if (account === null || (account.owner !== TOKEN && account.owner !== TOKEN_2022) || readMint(account) === null)
        throw invalidParams('Invalid param: not a Token mint');
      const wire = await mint(chain.blockhash(chain.clock.slot()), owner, { mint: of, program: account.owner }, amount);
      chain.send(wire);
      return wire.signature;
    },
  ),
  requestAirdrop: method(z.tuple([address, units, optional(z.looseObject({}))]), async ({ chain }, [to, lamports]) => {
    const wire = await airdrop(chain.blockhash(chain.clock.slot()), to, lamports);
    chain.send(wire);
    return wire.signature;
  }),
};
