import { describe, expect, it } from '@jest/globals';
import { samples } from '@pf/domain/testing';
import { RecipientsAtRest } from '../src/recipients.ts';

const { ACCOUNT, ALICE, BOB, OTHER_ACCOUNT } = samples;

describe('recipients of intents at rest', () => {
  const atRest = (): RecipientsAtRest => {
    const recipients = new RecipientsAtRest();
    recipients.add(ALICE, ACCOUNT, 1, 20);
    recipients.add(ALICE, OTHER_ACCOUNT, 1, 30);
    recipients.add(BOB, ACCOUNT, 1, 20);
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
    recipients.add(ALICE, ACCOUNT, 1, 40);
    recipients.add(ALICE, ACCOUNT, 1, 10);
    recipients.drop(39);
    expect(recipients.ownersOf(ALICE)).toEqual([ACCOUNT]);
  });

  it('are known since the first of their intents, in whatever order they come to rest', () => {
    const recipients = atRest();
    recipients.add(ALICE, ACCOUNT, 5, 40);
    recipients.add(ALICE, OTHER_ACCOUNT, 0, 15);
    expect(recipients.owners(ALICE)).toEqual([
      { account: ACCOUNT, since: 1, until: 40 },
      { account: OTHER_ACCOUNT, since: 0, until: 30 },
    ]);
  });
});
