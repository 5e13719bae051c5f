import type { Attempt, Money, MoneyEvent } from '../../src/pay/money.ts';
import type { Status } from '../../src/pay/status.ts';
import type { Machine } from './wallet-world.ts';

/** The page's knowledge with one fault: each is to be found by a walk. */
export interface Lie {
  readonly name: string;
  readonly machine: Machine;
}

export function liesIn(real: Machine): readonly Lie[] {
  type Advance = Machine['advance'];
  const advancing = (name: string, advance: Advance): Lie => ({ name, machine: { ...real, advance } });
  /** @param is on which events the fault shows; what it does to the attempts then */
  const dropping = (
    name: string,
    is: (event: MoneyEvent, money: Money) => boolean,
    drops: (attempt: Attempt, event: MoneyEvent) => boolean = () => true,
  ): Lie =>
    advancing(name, (money, event) => {
      const after = real.advance(money, event);
      if (!is(event, money)) return after;
      return { ...after, attempts: after.attempts.filter((attempt) => !drops(attempt, event)) };
    });
  const own = ({ id }: Attempt, event: MoneyEvent): boolean => 'id' in event && event.id === id;
  const type =
    (...types: readonly MoneyEvent['type'][]) =>
    (event: MoneyEvent): boolean =>
      types.includes(event.type);
  const sees =
    (...states: readonly string[]) =>
    (event: MoneyEvent): boolean =>
      event.type === 'seen' && states.includes(event.intent.state);
  const telling = (name: string, key: Status['key'], instead: Status): Lie => ({
    name,
    machine: {
      ...real,
      statusOf: (state) => {
        const told = real.statusOf(state);
        return told.key === key ? instead : told;
      },
    },
  });
  const noting = (note: string): Lie => ({
    name: `${note} as nothing sent`,
    machine: {
      ...real,
      noteOf: (money) => {
        const told = real.noteOf(money);
        return told.money === note ? { ...told, money: 'money.none' } : told;
      },
    },
  });
  const helping = (note: string): Lie => ({
    name: `${note} with an advice to try again`,
    machine: {
      ...real,
      noteOf: (money) => {
        const told = real.noteOf(money);
        return told.money === note ? { ...told, help: 'problem.other.text' } : told;
      },
    },
  });
  const waiting: Status = { key: 'waiting', tone: 'calm', offers: 'pay' };
  const ended = (key: Status['key']): Status => ({ key, tone: 'warn', offers: 'nothing' });
  return [
    dropping('an error of a wallet is a refusal of the person', type('failed'), own),
    dropping('what a wallet is asked is not remembered', type('asked'), own),
    dropping('a hash is forgotten', type('sent'), (attempt, event) => own(attempt, event) && attempt.hash !== null),
    dropping('the calls of a smart wallet are forgotten', type('sent'), ({ callsId }) => callsId !== null),
    ...(['given_up', 'reverted', 'partly'] as const).map((status) =>
      dropping(
        `calls that are ${status} by the wallet's word were not sent`,
        (event) => event.type === 'calls' && event.status === status,
        own,
      ),
    ),
    advancing('whatever a wallet says of its calls, it has sent a part', (money, event) =>
      real.advance(money, event.type === 'calls' ? { ...event, status: 'partly' } : event),
    ),
    advancing('calls that have failed are under way', (money, event) =>
      real.advance(money, event.type === 'calls' ? { ...event, status: 'pending' } : event),
    ),
    dropping('nothing is kept', type('stored')),
    dropping('a reload forgets what has no hash', type('stored'), ({ hash, stage }) => !hash && stage === 'unknown'),
    dropping('what the service refuses was not sent', type('refused'), own),
    dropping(
      'what the service finds to differ was not sent',
      (event) => event.type === 'refused' && event.isMismatch,
      own,
    ),
    advancing('a lost response proves that nothing was broadcast', (money, event) =>
      event.type === 'lost' ? money : real.advance(money, event),
    ),
    dropping('a lost response forgets what was signed', type('lost'), own),
    dropping('what was signed is forgotten', type('signed'), own),
    dropping('what a sponsor has was not sent', type('sponsor_failed'), own),
    dropping('another build settles everything', type('rebuilt')),
    dropping('the end of the time settles everything', sees('expired')),
    dropping('a cancellation settles everything', sees('cancelled')),
    dropping('a payment under way settles all others', sees('pending')),
    dropping('a failed payment settles all others', sees('failed')),
    dropping('a drop settles all others', (event) => event.type === 'seen' && event.intent.retryRequired),
    dropping('one refusal settles all', type('not_sent')),
    dropping('whoever starts again has sent nothing', type('restarted')),
    dropping('a payment that differs settles all others', type('arrived')),
    advancing('what arrived otherwise is not remembered', (money, event) =>
      event.type === 'arrived' ? money : real.advance(money, event),
    ),
    advancing('a warning lasts for ever', (money, event) => {
      const after = real.advance(money, event);
      return { ...after, isRestarted: after.isRestarted || money.isRestarted };
    }),
    advancing('no warning is needed', (money, event) => ({ ...real.advance(money, event), isRestarted: true })),
    advancing('every wallet is one that has sent', (money, event) => {
      const after = real.advance(money, event);
      return {
        ...after,
        attempts: after.attempts.map((attempt) =>
          attempt.stage === 'unknown' ? { ...attempt, stage: 'out' as const } : attempt,
        ),
      };
    }),
    telling('an unclear payment as none', 'unsure', waiting),
    telling('a sent payment as none', 'unseen', waiting),
    telling('an open request as none', 'asked', waiting),
    telling('a payment that differs as none', 'sent_otherwise', waiting),
    telling('what arrived otherwise as none', 'wrong_payment', waiting),
    telling('a part that was sent as none', 'sent_partly', waiting),
    telling('what was signed as none', 'sending', waiting),
    telling('a sent payment as a paid one', 'unseen', ended('paid')),
    telling('a payment under way as a paid one', 'pending', ended('paid')),
    telling('an unclear payment as a sent one', 'unsure', { key: 'unseen', tone: 'busy', offers: 'again' }),
    telling('an end with an open request as one without', 'expired_open', ended('expired')),
    telling('a cancellation with an open request as one without', 'ended_open', ended('cancelled')),
    telling('who has sent nothing as one who may have', 'waiting', { key: 'unsure', tone: 'warn', offers: 'again' }),
    ...['money.asked', 'money.handed', 'money.out', 'money.unknown', 'money.otherwise'].flatMap((note) => [
      noting(note),
      helping(note),
    ]),
  ];
}
