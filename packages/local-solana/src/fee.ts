import type { Message } from './wire.ts';

const LAMPORTS_PER_SIGNATURE = 5_000n;
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
/** Programs of the runtime: they count 3,000 compute units by default (SIMD-0170), all others 200,000. */
const BUILTINS = new Set([
  COMPUTE_BUDGET,
  '11111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
]);
const MAX_UNITS = 1_400_000n;

/** The compute unit price (micro-lamports) and limit of a transaction. */
export function computeBudget(message: Message): { readonly price: bigint; readonly limit: bigint } {
  let [price, limit, byDefault] = [0n, null as bigint | null, 0n];
  for (const { programAddressIndex, data } of message.instructions) {
    const program = message.staticAccounts[programAddressIndex] ?? '';
    byDefault += BUILTINS.has(program) ? 3_000n : 200_000n;
    if (program !== COMPUTE_BUDGET || data === undefined) continue;
    const bytes = Buffer.from(data);
    if (bytes[0] === 2 && bytes.length === 5) limit = BigInt(bytes.readUInt32LE(1));
    if (bytes[0] === 3 && bytes.length === 9) price = bytes.readBigUInt64LE(1);
  }
  const units = limit ?? byDefault;
  return { price, limit: units > MAX_UNITS ? MAX_UNITS : units };
}

/** The lamports that a transaction costs its payer, landed or failed: signatures, and the priority fee rounded up. */
export function feeOf(message: Message): bigint {
  const { price, limit } = computeBudget(message);
  return LAMPORTS_PER_SIGNATURE * BigInt(message.header.numSignerAccounts) + (price * limit + 999_999n) / 1_000_000n;
}
