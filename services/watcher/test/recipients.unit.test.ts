import { describe, expect, it } from '@jest/globals';
import { samples } from '@pf/domain/testing';
import { RecipientsAtRest } from '../src/recipients.ts';

const { ACCOUNT, ALICE, BOB, CAROL, OTHER_ACCOUNT } = samples;
const DAY_MS = 86_400_000;

/** An end that is the same for deposits. */
const end = (since: number, until: number, longUntil = until) => ({ since, until, longUntil });

describe('recipients of intents at rest', () => {
  const atRest = (): RecipientsAtRest => {
    const recipients = new RecipientsAtRest();
    recipients.add(ALICE, ACCOUNT, end(1, 20));
    recipients.add(ALICE, OTHER_ACCOUNT, end(1, 30));
    recipients.add(BOB, ACCOUNT, end(1, 20));
    return recipients;
  };

  it('are watched for each account until its own time is up', () => {
    const recipients = atRest();
    recipients.drop(20);
    expect([[...recipients.all()], recipients.ownersOf(ALICE), recipients.has(BOB)]).toEqual([
      [ALICE],
      [OTHER_ACCOUNT],
      false,
    ]);
  });

  it('are watched as long as the last of their intents, in whatever order they come to rest', () => {
    const recipients = atRest();
    recipients.add(ALICE, ACCOUNT, end(1, 40));
    recipients.add(ALICE, ACCOUNT, end(1, 10));
    recipients.drop(39);
    expect(recipients.ownersOf(ALICE)).toEqual([ACCOUNT]);
  });

  it('are known since the first of their intents, in whatever order they come to rest', () => {
    const recipients = atRest();
    recipients.add(ALICE, ACCOUNT, end(5, 40));
    recipients.add(ALICE, OTHER_ACCOUNT, end(0, 15));
    expect(recipients.owners(ALICE)).toMatchObject([
      { account: ACCOUNT, since: 1, until: 40 },
      { account: OTHER_ACCOUNT, since: 0, until: 30 },
    ]);
  });

  it('are watched for deposits for longer, as many of an account as there may be', () => {
    const recipients = new RecipientsAtRest(1);
    recipients.add(ALICE, ACCOUNT, end(1, 20, 99));
    recipients.add(BOB, ACCOUNT, end(1, 20, 99));
    recipients.add(CAROL, OTHER_ACCOUNT, end(1, 20, 99));
    recipients.drop(20);
    expect([...recipients.all()]).toEqual([ALICE, CAROL]);
    recipients.drop(99);
    recipients.add(BOB, ACCOUNT, end(1, 20, 999));
    recipients.drop(99);
    expect([...recipients.all()]).toEqual([BOB]);
  });

  it('keep their places over a restart: what is stored comes first', () => {
    const recipients = new RecipientsAtRest(1);
    recipients.addKept(ALICE, ACCOUNT, 1, 99);
    recipients.add(BOB, ACCOUNT, end(1, 20, 999));
    recipients.addKept(CAROL, ACCOUNT, 1, 99);
    expect([[...recipients.all()], recipients.unkept(9)]).toEqual([[ALICE, BOB], []]);
    recipients.drop(20);
    expect([...recipients.all()]).toEqual([ALICE]);
  });

  it('are stored where they are watched for deposits, and again where that lasts a day longer', () => {
    const recipients = atRest();
    const unkept = () => recipients.unkept(9).map(({ recipient, until }) => [recipient, until]);
    expect(unkept()).toEqual([]);
    const until = 300 * DAY_MS;
    recipients.add(ALICE, ACCOUNT, end(1, 40, until));
    expect(unkept()).toEqual([[ALICE, until]]);
    recipients.keep(ALICE, ACCOUNT, until);
    recipients.add(ALICE, ACCOUNT, end(1, 40, until + DAY_MS - 1));
    expect(unkept()).toEqual([]);
    recipients.add(ALICE, ACCOUNT, end(1, 40, until + DAY_MS));
    expect(unkept()).toEqual([[ALICE, until + DAY_MS]]);
  });
});
