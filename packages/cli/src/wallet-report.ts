import type { Network } from '@pf/chains/networks';
import { type AccountId, type Address, formatAmount, type Instant, isoTime } from '@pf/domain';
import type { Difference, TokenSums, WalletReport } from '@pf/wallet-audit';
import { moment, table } from './output.ts';

/** Differences that are printed: one hints at its cause, and all are in the sums. */
const LISTED_MAX = 100;
/** Intents and deposits that are named with a difference, and that cannot be read. */
const NAMED_MAX = 5;

/** What was audited. */
export interface Subject {
  readonly network: Network;
  readonly wallet: Address;
  /** Whose intents and deposits name it, and since when. */
  readonly accounts: readonly { readonly accountId: AccountId; readonly since: Instant }[];
  /** Intents of these accounts that have left the database. */
  readonly cold: number;
}

const NOTHING: TokenSums = {
  came: 0n,
  went: 0n,
  told: { settlement: 0n, extra: 0n, mismatched: 0n, deposit: 0n },
  difference: 0n,
};

/** The numbers of one token, as both forms of the report have them. */
function tokensOf({ network }: Subject, { sums, balances }: WalletReport) {
  return network.tokens.map(({ symbol, address, decimals }) => {
    const { came, went, told, difference } = sums.get(address) ?? NOTHING;
    const found = balances.get(address);
    const known = found !== undefined && 'before' in found ? found : null;
    return {
      symbol,
      address,
      decimals,
      came,
      went,
      told,
      difference,
      before: known?.before ?? null,
      after: known?.after ?? null,
      unknown: found !== undefined && 'unknown' in found ? found.unknown : null,
      /** What the balance moved beyond the transfers. */
      unexplained: known === null ? null : known.after - known.before - came + went,
    };
  });
}
type TokenReport = ReturnType<typeof tokensOf>[number];

const amountOf = (units: bigint, decimals: number): string =>
  units < 0n ? `-${formatAmount(-units, decimals)}` : formatAmount(units, decimals);
const orNull = (units: bigint | null): string | null => units?.toString() ?? null;
const timeOf = (at: Instant | null): string | null => (at === null ? null : isoTime(at));

/** Amounts in base units. */
export function reportAsJson(subject: Subject, report: WalletReport): object {
  const { network, wallet, accounts, cold } = subject;
  const { range, times, differences, unreadable } = report;
  return {
    network: network.name,
    chain: network.chain,
    wallet,
    blocks: { from: range.from.toString(), to: range.to.toString() },
    times: { from: timeOf(times.from), to: timeOf(times.to) },
    accounts: accounts.map(({ accountId, since }) => ({ accountId, since: isoTime(since) })),
    tokens: tokensOf(subject, report).map(({ symbol, address, decimals, ...token }) => ({
      token: symbol,
      tokenAddress: address,
      decimals,
      balanceBefore: orNull(token.before),
      balanceAfter: orNull(token.after),
      balancesUnknown: token.unknown,
      came: token.came.toString(),
      went: token.went.toString(),
      ledger: {
        settlements: token.told.settlement.toString(),
        extra: token.told.extra.toString(),
        mismatched: token.told.mismatched.toString(),
        deposits: token.told.deposit.toString(),
      },
      difference: token.difference.toString(),
      unexplained: orNull(token.unexplained),
    })),
    differences: differences.slice(0, LISTED_MAX).map(({ toldBy, block, arrived, told, hash, ...one }) => ({
      ...one,
      txSignature: hash,
      block: orNull(block),
      arrived: arrived.toString(),
      told: told.toString(),
      toldBy: toldBy.slice(0, NAMED_MAX),
    })),
    differencesInAll: differences.length,
    unreadable: unreadable.slice(0, LISTED_MAX),
    cold,
  };
}

export function reportAsText(subject: Subject, report: WalletReport): string {
  const { network, wallet, accounts, cold } = subject;
  const { range, times, differences, unreadable } = report;
  const tokens = tokensOf(subject, report);
  const since = accounts.reduce((first, one) => Math.min(first, one.since), Infinity);
  const lines = [
    `${wallet} on ${network.label}`,
    `${network.family === 'solana' ? 'Slots' : 'Blocks'} ${range.from} to ${range.to}` +
      `${times.from === null || times.to === null ? '' : `, ${momentOf(times.from)} to ${momentOf(times.to)}`}.`,
    accounts.length === 0
      ? 'No intent or deposit in the database names it: the ledger has nothing of it.'
      : `The intents of ${accounts.length === 1 ? 'one account' : `${accounts.length} accounts`} name it, the oldest ` +
        `since ${momentOf(since)}. What arrived before is in no ledger.`,
    '',
    table([
      ['TOKEN', 'BEFORE', 'CAME', 'WENT', 'AFTER', 'LEDGER', 'DIFFERENCE'],
      ...tokens.filter(isShown).map((token) => {
        const { symbol, decimals, before, came, went, after, told, difference } = token;
        const known = (units: bigint | null): string => (units === null ? '?' : amountOf(units, decimals));
        const ledger = Object.values(told).reduce((sum, units) => sum + units, 0n);
        const sums = [came, went].map((units) => amountOf(units, decimals));
        return [symbol, known(before), ...sums, known(after), known(ledger), known(difference)];
      }),
    ]),
    '',
    ...tokens.filter(isShown).flatMap((token) => linesOf(token)),
  ];
  if (differences.length > 0) lines.push('', ...differencesAsText(subject, differences));
  if (unreadable.length > 0)
    lines.push(`Intents that this version cannot read: ${unreadable.slice(0, NAMED_MAX).join(', ')}.`);
  if (cold > 0)
    lines.push(
      `${cold} intents of these accounts have left the database and are left out (docs/operations/growth.md).`,
    );
  return lines.join('\n');
}

const momentOf = (at: Instant): string => moment(new Date(at));

/** A token that was never there would be noise. */
const isShown = ({ before, after, came, went, told }: TokenReport): boolean =>
  [before ?? 0n, after ?? 0n, came, went, ...Object.values(told)].some((units) => units !== 0n);

function linesOf({ symbol, decimals, told, unknown, unexplained }: TokenReport): readonly string[] {
  const amount = (units: bigint): string => amountOf(units, decimals);
  return [
    `${symbol}: the ledger has ${amount(told.settlement)} of settlements, ${amount(told.extra)} of extra payments, ` +
      `${amount(told.mismatched)} of mismatched payments, ${amount(told.deposit)} of deposits.`,
    ...(unknown === null ? [] : [`${symbol}: the balances are not known: ${unknown}.`]),
    ...(unexplained === null || unexplained === 0n
      ? []
      : [`${symbol}: the balance has moved by ${amount(unexplained)} beside all transfers.`]),
  ];
}

function differencesAsText({ network }: Subject, differences: readonly Difference[]): readonly string[] {
  const more = differences.length - LISTED_MAX;
  return [
    table([
      ['RESULT', 'TOKEN', 'ARRIVED', 'LEDGER', 'BLOCK', 'SENDER', 'TRANSACTION', 'TOLD BY'],
      ...differences.slice(0, LISTED_MAX).map(({ kind, tokenAddress, arrived, told, block, sender, hash, toldBy }) => {
        const token = network.tokens.find(({ address }) => address === tokenAddress);
        return [
          kind,
          token?.symbol ?? tokenAddress,
          amountOf(arrived, token?.decimals ?? 0),
          amountOf(told, token?.decimals ?? 0),
          block?.toString() ?? 'none',
          sender ?? '',
          hash,
          toldBy.slice(0, NAMED_MAX).join(' '),
        ];
      }),
    ]),
    ...(more > 0 ? [`${more} more.`] : []),
  ];
}

/** What the command fails with; null where ledger and chain agree. */
export function problemOf(subject: Subject, report: WalletReport): string | null {
  if (report.differences.length > 0)
    return 'The ledger and the chain differ. What to do: docs/operations/runbooks/audit-wallets.md';
  if (tokensOf(subject, report).some(({ unexplained }) => unexplained !== null && unexplained !== 0n))
    return 'The balance has moved without transfers. What to do: docs/operations/runbooks/audit-wallets.md';
  if (report.unreadable.length > 0) return 'Some intents cannot be read by this version. Run that of the services.';
  return null;
}
