import type { PaymentTerms } from '@pf/domain';
import { PublicKey } from '@solana/web3.js';
import { networkOf } from '../../../src/index.ts';
import { arrivalsIn } from '../../../src/solana/observe/arrivals.ts';
import { landingsIn, namesIn } from '../../../src/solana/observe/landings.ts';
import { readTransaction } from '../../../src/solana/observe/reading.ts';
import { decodeSigned } from '../../../src/solana/signed-transaction.ts';
import { Watched } from '../../conformance/watching.ts';
import { DEVNET, termsIn } from '../payments.ts';
import { Script } from './scripts.ts';
import { first, multisig, randomOf, second, wireOf, World } from './world.ts';

const network = networkOf(DEVNET);
const intents = (['USDC', 'PYUSD', 'USDC', 'PYUSD'] as const).map((symbol, place): PaymentTerms => ({
  ...termsIn(symbol),
  requestor: (place < 2 ? first : second).toBase58() as PaymentTerms['requestor'],
}));
const watch = new Watched();
for (const [place, terms] of intents.entries()) watch.add(`pi_${place}`, terms);
const references = intents.map(({ reference }) => new PublicKey(reference));

/** Each recipient with each token. */
const watchedHolders = intents.flatMap(({ requestor }) =>
  [...new Set(intents.map(({ tokenAddress }) => tokenAddress))].map((token) => `${requestor} ${token}`),
);

const asJson = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? Number(one) : one)));

interface Tally {
  /** Transactions that succeeded, and that failed. */
  executed: number;
  failed: number;
  honest: number;
  landings: number;
  /** Of them those whose reference is not proven. */
  unproven: number;
  /** What came without paying an intent. */
  arrivals: number;
}

/**
 * Executes random transactions, and compares what is observed of them with what the chain's accounts hold.
 * @throws Error where more is observed than was gained, less of an honest payment, or a name that its payer has not
 *   signed; and where payments and arrivals are not together what was gained
 */
export async function checkGains(runs: number, seed: number): Promise<Tally> {
  const world = await World.open();
  const tally: Tally = { executed: 0, failed: 0, honest: 0, landings: 0, unproven: 0, arrivals: 0 };
  for (let run = 0; run < runs; run += 1) {
    const random = randomOf(seed + run);
    world.reset(random);
    const before = world.holdings();
    const script = new Script(world, random, references);
    const paid = run % 5 === 0 ? script.honest() : (script.anything(), null);
    if (script.instructions.length === 0) continue;
    const wire = wireOf(script.instructions, run);
    if (wire === null) continue;
    const shown = world.execute(script.instructions, wire);
    if (shown.meta.err !== null) {
      tally.failed += 1;
      continue;
    }
    tally.executed += 1;
    const decoded = decodeSigned(wire);
    if (!decoded.ok) throw new Error(decoded.problem);
    const reading = readTransaction(decoded.value.hash, asJson(shown));
    if (!reading.ok) throw new Error(`${reading.problem} (seed ${seed + run})`);
    watch.begin();
    await watch.recall(namesIn(reading.value));
    const { landings } = landingsIn(reading.value, network, watch);
    const after = world.holdings();
    const sums = new Map<string, bigint>();
    const signers = new Set<string>([...decoded.value.accounts.slice(0, decoded.value.signers), multisig.toBase58()]);
    for (const { data } of landings) {
      const { to, from, tokenAddress, amount, reference } = data.transfer;
      const holder = `${to} ${tokenAddress}`;
      sums.set(holder, (sums.get(holder) ?? 0n) + amount);
      const isProven = intents.some((terms) => terms.reference === reference);
      if (isProven && !signers.has(from)) throw new Error(`${from} has not signed (seed ${seed + run})`);
      tally.landings += 1;
      if (!isProven) tally.unproven += 1;
    }
    for (const [holder, sum] of sums) {
      const gained = (after.get(holder) ?? 0n) - (before.get(holder) ?? 0n);
      if (sum > gained && sum > 0n)
        throw new Error(`${holder} is observed to get ${sum} and has gained ${gained} (seed ${seed + run})`);
    }
    const told = new Map(sums);
    for (const { arrival } of arrivalsIn(reading.value, network, watch)) {
      const holder = `${arrival.to} ${arrival.tokenAddress}`;
      told.set(holder, (told.get(holder) ?? 0n) + arrival.amount);
      tally.arrivals += 1;
    }
    for (const holder of watchedHolders) {
      const gained = (after.get(holder) ?? 0n) - (before.get(holder) ?? 0n);
      if ((told.get(holder) ?? 0n) !== (gained > 0n ? gained : 0n))
        throw new Error(`${holder} is told of ${told.get(holder)} and has gained ${gained} (seed ${seed + run})`);
    }
    if (paid === null) continue;
    tally.honest += 1;
    for (const holder of new Set([...sums.keys(), ...paid.keys()])) {
      // Where the fee takes all of it, nothing has arrived, and nothing is observed.
      const [observed, due] = [sums.get(holder) ?? 0n, paid.get(holder) ?? 0n];
      if (observed !== due)
        throw new Error(`${holder} was paid ${due}, of which ${observed} is observed (seed ${seed + run})`);
    }
  }
  return tally;
}
