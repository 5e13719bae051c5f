import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { concernsLink, type FollowedLink, followPayment, type IntentId, toBeCancelled } from '../../src/index.ts';

const BASE = 'pi_base' as IntentId;
const SOLANA = 'pi_solana' as IntentId;
const NOW = 1_000;

const begun = (intentId: IntentId) => ({ intentId, version: 0, paid: false, open: true });
const open: FollowedLink = {
  state: 'open',
  paidBy: null,
  paidAt: null,
  cancelledAt: null,
  expiresAt: 5_000,
  intents: [begun(BASE), begun(SOLANA)],
};

type Step = readonly [type: 'confirmed' | 'failed' | 'expired' | 'cancelled', intentId: IntentId, version: number];

/** Given a link, when these events come: the link, and what its account is told. */
function after(given: FollowedLink, steps: readonly Step[], now = NOW) {
  let link = given;
  const told: string[] = [];
  for (const [type, intentId, version] of steps) {
    const { link: next, news } = followPayment(link, { type: `intent.${type}`, intentId, version }, now);
    link = next;
    if (news !== null) told.push(`${news} ${intentId}`);
  }
  return { link, told };
}

describe('A payment link', () => {
  it('is paid by the first payment, which closes the others', () => {
    const { link, told } = after(open, [['confirmed', BASE, 3]]);
    expect(link).toMatchObject({ state: 'paid', paidBy: BASE, paidAt: NOW });
    expect([told, toBeCancelled(open), toBeCancelled(link)]).toEqual([[`payment_link.paid ${BASE}`], [], [SOLANA]]);
  });

  it('has nothing left to close when the others are over', () => {
    const { link, told } = after(open, [
      ['confirmed', BASE, 3],
      ['cancelled', SOLANA, 2],
    ]);
    expect([link.state, link.paidBy, toBeCancelled(link), told.length]).toEqual(['paid', BASE, [], 1]);
  });

  it('keeps the first payment and tells of a second one', () => {
    const { link, told } = after(open, [
      ['confirmed', SOLANA, 3],
      ['confirmed', BASE, 3],
    ]);
    expect([link.state, link.paidBy, link.intents.map(({ paid }) => paid)]).toEqual(['paid', SOLANA, [true, true]]);
    expect(told).toEqual([`payment_link.paid ${SOLANA}`, `payment_link.extra_payment ${BASE}`]);
  });

  it('stays open when an intent ends unpaid', () => {
    const { link, told } = after(open, [
      ['cancelled', BASE, 2],
      ['failed', SOLANA, 3],
    ]);
    expect([link.state, link.paidBy, told]).toEqual(['open', null, []]);
  });

  it.each([
    ['open', open, NOW],
    ['cancelled', { ...open, cancelledAt: 900 }, NOW],
    ['expired', open, open.expiresAt],
  ] as const)('is %s again when its payment is undone', (state, given, now) => {
    const { link } = after(
      given,
      [
        ['confirmed', BASE, 3],
        ['failed', BASE, 4],
      ],
      now,
    );
    expect([link.state, link.paidBy, link.paidAt]).toEqual([state, null, null]);
  });

  it('stays paid by the second payment when the first one is undone', () => {
    const { link, told } = after(open, [
      ['confirmed', BASE, 3],
      ['confirmed', SOLANA, 3],
      ['failed', BASE, 5],
    ]);
    expect([link.state, link.paidBy, told.length]).toEqual(['paid', SOLANA, 2]);
  });

  it.each(['cancelled', 'expired'] as const)('is paid by a late payment when it is %s', (state) => {
    const ended = { ...open, state, intents: [{ ...begun(BASE), version: 2, open: false }, begun(SOLANA)] };
    expect(toBeCancelled(ended)).toEqual([SOLANA]);
    const { link, told } = after(ended, [['confirmed', BASE, 3]]);
    expect([link.state, told]).toEqual(['paid', [`payment_link.paid ${BASE}`]]);
  });

  it('ignores events that it has followed, and those of other intents', () => {
    const { link } = after(open, [['confirmed', BASE, 3]]);
    for (const step of [
      ['confirmed', BASE, 3],
      ['failed', BASE, 2],
      ['confirmed', 'pi_other' as IntentId, 9],
    ] as const)
      expect(after(link, [step])).toEqual({ link, told: [] });
  });

  it('ends the same however often the log is read from an earlier position', () => {
    const step = fc.tuple(
      fc.constantFrom('confirmed', 'failed', 'expired', 'cancelled'),
      fc.constantFrom(BASE, SOLANA),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), fc.nat(8), (events, back) => {
        const log = events.map(([type, intentId], index) => [type, intentId, index + 1] as Step);
        const once = after(open, log);
        const again = after(once.link, log.slice(Math.max(0, log.length - back)));
        expect(again).toEqual({ link: once.link, told: [] });
        expect(once.told.filter((text) => text.startsWith('payment_link.paid')).length > 0).toBe(
          log.some(([type]) => type === 'confirmed'),
        );
      }),
    );
  });

  it('is concerned by what ends or pays an intent', () => {
    expect(['intent.confirmed', 'intent.expired', 'intent.pending', 'intent.finalized'].map(concernsLink)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
