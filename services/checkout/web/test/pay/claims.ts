import type { CallsStatus } from '../../src/pay/money.ts';
import { isAlive, isUnguarded, type Tab, type World } from './wallet-world.ts';

type Claim = (world: World, tab: Tab) => boolean;

const FAILED: readonly CallsStatus[] = ['given_up', 'reverted', 'partly'];

const nothingSent: Claim = ({ asks }) => !asks.some(isAlive);
const wasAsked: Claim = ({ asks }) => asks.length > 0;
/** And has said nothing else since, to every tab that has asked it. */
const walletSaidSent: Claim = ({ asks }) =>
  asks.some(({ saidSent, onlySigns, saidOfCalls }) => {
    const said = [...saidOfCalls.values()];
    return onlySigns || (saidSent && (said.length === 0 || said.some((one) => !FAILED.includes(one))));
  });
const isEnded: Claim = ({ intent }) => ['expired', 'cancelled', 'failed', 'confirmed'].includes(intent.state);
const otherArrived: Claim = ({ arrived }) => arrived.has('intent.mismatched_payment');
const isPaid: Claim = (world) => world.isPaid;
const all =
  (...claims: readonly Claim[]): Claim =>
  (world, tab) =>
    claims.every((claim) => claim(world, tab));

/** What each text says, read by a person: whether it is true. A text that is not here fails the walks. */
export const CLAIMS: Readonly<Record<string, Claim>> = {
  'status.waiting': all(({ asks }) => !asks.some(isUnguarded)),
  'status.sign_again': all(nothingSent, ({ wasPending }) => wasPending),
  'status.wrong_payment': otherArrived,
  'status.confirming': ({ asks }, tab) => asks.some((ask) => ask.tab === tab && ask.isAwaited),
  'status.asked': wasAsked,
  'status.sending': ({ asks }) => asks.some(({ onlySigns }) => onlySigns),
  'status.unseen': walletSaidSent,
  'status.unsure': wasAsked,
  'status.sent_partly': ({ asks }) => asks.some(({ saidPartly }) => saidPartly),
  'status.sent_otherwise': all(walletSaidSent, ({ asks }) => asks.some(({ isRight }) => !isRight)),
  'status.again': ({ asks }) => asks.some(({ isDeclined }) => !isDeclined),
  'status.pending': ({ wasPending }) => wasPending,
  'status.paid': isPaid,
  'status.paid_late': all(isPaid, ({ arrived }) => arrived.has('intent.late_payment')),
  'status.paid_twice': all(isPaid, ({ arrived }) => arrived.has('intent.extra_payment')),
  'status.failed': all(nothingSent, isEnded),
  'status.expired': all(nothingSent, isEnded),
  'status.cancelled': all(nothingSent, isEnded),
  'status.expired_pending': ({ wasPending }) => wasPending,
  'status.expired_open': all(wasAsked, isEnded),
  'status.ended_open': all(wasAsked, isEnded),
  'status.ended_wrong': all(otherArrived, isEnded),
  'money.none': nothingSent,
  'money.asked': wasAsked,
  'money.handed': ({ asks }) => asks.some(({ onlySigns }) => onlySigns),
  'money.out': walletSaidSent,
  'money.unknown': wasAsked,
  'money.otherwise': ({ asks, arrived }) =>
    arrived.size > 0 || asks.some(({ isRight, saidPartly }) => !isRight || saidPartly),
};

/** What a tab says that is more than is true; empty where it says the truth. */
export function liesOf(world: World, tab: Tab): readonly string[] {
  const { key, offers } = world.statusOf(tab);
  const { help, money } = world.noteOf(tab);
  const said = [`status.${key}`, ...(money === null ? [] : [money])];
  said.forEach((text) => world.said.add(text));
  const untrue = said.filter((text) => !(CLAIMS[text]?.(world, tab) ?? false));
  // "Try again", with no word of what may happen.
  const isUrged = (offers === 'pay' || help !== null) && !tab.wasWarned && key !== 'confirming';
  if (isUrged && world.asks.some(isUnguarded)) untrue.push('an offer to pay without a warning');
  if (offers === 'pay' && key !== 'confirming' && !tab.wasWarned && otherArrived(world, tab) && hasHeard(world, tab))
    untrue.push('an offer to pay beside what arrived otherwise');
  // Nor does it frighten who has sent nothing.
  const isClear = world.asks.every(({ isDeclined }) => isDeclined) && world.arrived.size === 0;
  if (isClear && tab.money.intent?.state === 'created' && offers !== 'pay') untrue.push('a warning without a reason');
  return untrue;
}

const hasHeard = (world: World, tab: Tab): boolean => tab.heard === world.newsCount;
