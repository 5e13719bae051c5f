import { AbiCoder } from 'ethers/abi';

/** The last 32 bytes of a signature that also says how to deploy its wallet (ERC-6492). */
const MAGIC = '6492'.repeat(16);

/**
 * What the wallet itself has signed, in a signature of ERC-6492: `(factory, calldata, signature)` and the magic bytes.
 * Null for any other signature.
 */
export function innerSignature(signature: string): string | null {
  const text = signature.toLowerCase();
  if (!text.endsWith(MAGIC)) return null;
  try {
    const [, , inner] = AbiCoder.defaultAbiCoder().decode(
      ['address', 'bytes', 'bytes'],
      text.slice(0, -MAGIC.length),
    ) as unknown as [string, string, string];
    return inner;
  } catch {
    // Bytes that happen to end like this.
    return null;
  }
}
