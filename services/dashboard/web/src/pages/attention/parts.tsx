import { explorerPage } from '@pf/chains/networks';
import type { Deposit } from '../../api/types.ts';
import { amount } from '../../format/money.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Time } from '../../ui/time.tsx';

/** What a card is about. */
export interface Sort {
  readonly label: string;
  readonly tone: Tone;
  /** What to do. */
  readonly advice: string;
}

export const Head = ({ of: { tone, label }, at }: { readonly of: Sort; readonly at: string }) => (
  <div className="row apart">
    <Badge tone={tone}>{label}</Badge>
    <span className="muted small">
      <Time at={at} />
    </span>
  </div>
);

export const Sum = ({ of }: { readonly of: Pick<Deposit, 'amount' | 'token'> }) => (
  <strong className="number">
    {of.amount === null ? 'An unknown amount' : `${amount(of.amount)} ${of.token ?? ''}`}
  </strong>
);

export function Transaction({ of }: { readonly of: Pick<Deposit, 'chain' | 'txSignature'> }) {
  const explorer = explorerPage(of.chain, of.txSignature);
  return (
    explorer && (
      <a href={explorer} target="_blank" rel="noreferrer">
        Transaction
      </a>
    )
  );
}
