import { describe, expect, it } from '@jest/globals';
import { sharedTexts } from '../src/kept-intent.ts';

describe('the texts that intents share', () => {
  it('are forgotten when there are many others', () => {
    const texts = sharedTexts();
    for (let requestor = 0; requestor < 120_000; requestor++) texts.one(`0x${requestor}`);
    expect(texts.size).toBeLessThanOrEqual(50_000);
  });
});
