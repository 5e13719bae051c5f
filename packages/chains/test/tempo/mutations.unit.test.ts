import { describe, expect, it } from '@jest/globals';
import { keccak256 } from 'ethers/crypto';
import fc from 'fast-check';
import * as SignatureEnvelope from 'ox/tempo/SignatureEnvelope';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import { Transaction } from 'viem/tempo';
import type { Differences } from '../../src/index.ts';
import { decodeSigned } from '../../src/tempo/signed-transaction.ts';
import { differences } from '../../src/tempo/verify.ts';
import { edited, item, list, listContent } from '../edits.ts';
import {
  addressOf,
  calldata,
  type Envelope,
  good,
  p256,
  passkey,
  payer,
  type Signer,
  signed,
  sponsor,
  terms,
  tokenOf,
  usdc,
} from './payments.ts';
import type { Hex } from 'viem';

/*
 * A payer who means ill signs what he likes: the bytes of what was built, changed anyhow, with his own signature over
 * them. What is accepted of it has to be the good transaction but for what is the wallet's own.
 */

const TYPE = Buffer.of(0x76);
const accessed = {
  ...good,
  accessList: [{ address: usdc, storageKeys: [`0x${'01'.repeat(32)}`] }],
} as const satisfies Envelope;
const contents = [good, accessed].map((envelope) =>
  listContent(Buffer.from(TxEnvelopeTempo.serialize(envelope).slice(4), 'hex')),
);

/** These fields with a signature over them, as they go over the wire. */
async function resigned(content: Uint8Array, signer: Signer): Promise<Buffer> {
  const hash = keccak256(Buffer.concat([TYPE, list(content)])) as Hex;
  const signature = SignatureEnvelope.serialize(SignatureEnvelope.from(await signer.sign({ hash })));
  return Buffer.concat([TYPE, list(Buffer.concat([content, item(Buffer.from(signature.slice(2), 'hex'))]))]);
}

function judge(raw: Buffer, fulfiller = addressOf(payer)): Differences | null {
  const decoded = decodeSigned(raw);
  return decoded.ok ? differences(decoded.value, terms, fulfiller) : null;
}

/** What is left of a transaction without what the wallet may choose. */
function meaning(raw: Buffer): unknown {
  const {
    gas: _gas,
    maxFeePerGas: _max,
    maxPriorityFeePerGas: _tip,
    nonce: _nonce,
    nonceKey: _key,
    feeToken: _token,
    accessList: _list,
    validBefore,
    validAfter: _after,
    from: _from,
    signature: _signature,
    ...rest
  } = Transaction.deserialize(`0x${raw.toString('hex')}` as `0x76${string}`) as unknown as Record<string, unknown>;
  return { ...rest, ends: validBefore !== undefined };
}
const meant = meaning(await signed());

describe('Tempo verify › a malicious payer', () => {
  it.each([
    ['a key', payer, 1_000],
    ['a P256 key', p256, 150],
    ['a passkey', passkey, 150],
  ] as const)(
    'cannot change bytes signed with %s unless the transaction pays the same',
    async (_what, signer, numRuns) => {
      let [accepted, read] = [0, 0];
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...contents).chain(edited), async (content) => {
          const raw = await resigned(content, signer);
          const differs = judge(raw, addressOf(signer));
          if (differs === null) return;
          read += 1;
          if (Object.keys(differs).length > 0) return;
          accepted += 1;
          expect(meaning(raw)).toEqual(meant);
        }),
        { numRuns },
      );
      // Another nonce, gas, fee, fee token, time or access list pays the same.
      expect(accepted).toBeGreaterThan(0);
      expect(read).toBeGreaterThan(accepted);
    },
  );

  it('cannot add, change or reorder calls: only the single payment call is accepted', async () => {
    const [call] = good.calls;
    const word = (hex: string): string => hex.padStart(64, '0');
    const others = [
      call,
      { to: usdc, data: `0x95777d59${word('66'.repeat(20))}${calldata.slice(74)}` },
      { to: usdc, data: `0x095ea7b3${word('66'.repeat(20))}${calldata.slice(74, 138)}` },
      { to: tokenOf('AlphaUSD').address as string as Hex, data: calldata },
      { to: sponsor.address, value: 1n },
      { to: usdc },
    ] as const;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...others), { minLength: 1, maxLength: 4 }), async (calls) => {
        const differs = judge(await signed({ ...good, calls }));
        expect(differs !== null && Object.keys(differs).length === 0).toBe(calls.length === 1 && calls[0] === call);
      }),
      { numRuns: 150 },
    );
  });
});
