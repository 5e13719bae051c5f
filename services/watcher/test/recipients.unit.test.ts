import { describe, expect, it } from '@jest/globals';
import { samples } from '@pf/domain/testing';
import { RecipientsAtRest } from '../src/recipients.ts';

const { ACCOUNT, ALICE, BOB, OTHER_ACCOUNT } = samples;

describe('recipients of intents at rest', () => {
  const atRest = (): RecipientsAtRest => {
    const recipients = new RecipientsAtRest();
    recipients.add(ALICE, ACCOUNT, 20);
    recipients.add(ALICE, OTHER_ACCOUNT, 30);
    recipients.add(BOB, ACCOUNT, 20);
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
    recipients.add(ALICE, ACCOUNT, 40);
    recipients.add(ALICE, ACCOUNT, 10);
    recipients.drop(39);
    expect(recipients.ownersOf(ALICE)).toEqual([ACCOUNT]);
  });
});
