import type { Network } from '@pf/chains/networks';
import type { ComponentChildren } from 'preact';
import type { Intent } from '../api/schemas.ts';
import { formatAmount } from '../format/money.ts';
import { Address } from './address.tsx';
import { useTranslator } from './context.ts';
import { Copy } from './copy.tsx';
import { Fact } from './fact.tsx';
import { Icon } from './icon.tsx';

interface Props {
  readonly intent: Intent;
  readonly network: Network;
  readonly merchant: string;
  /** The code of the transfer. */
  readonly children: ComponentChildren;
}

/** What a person enters at an exchange, or in a wallet that knows no references: exactly this pays the intent. */
export function Transfer({
  intent: { amount, token, requestor },
  network: { family, label },
  merchant,
  children,
}: Props) {
  const t = useTranslator();
  const exact = `${formatAmount(amount, t.language)}\u00a0${token}`;
  return (
    <div class="transfer">
      <dl class="facts boxed">
        <Fact name={t('detail.network')}>
          {/* Addresses of EVM chains are the same on all of them, and exchanges offer Ethereum first. */}
          <strong>{family === 'solana' ? label : t('transfer.not_ethereum', { network: label })}</strong>
        </Fact>
        <Fact name={t('transfer.token')}>
          <span>
            <bdi translate={false}>{token}</bdi>
          </span>
        </Fact>
        <Fact name={t('transfer.amount')}>
          <span class="address">
            <bdi class="groups number" translate={false}>
              {exact}
            </bdi>
            {/* As every form takes it, whatever the language writes. */}
            <Copy text={amount} what={t('transfer.amount')} />
          </span>
        </Fact>
        <Fact name={t('transfer.address')}>
          <Address value={requestor} what={t('transfer.address')} />
        </Fact>
      </dl>
      <div class="note">
        <Icon name="alert" />
        <div class="words">
          <strong>{t('transfer.exactly', { amount: exact })}</strong>
          <span>{t('transfer.fees')}</span>
          <span>{t('transfer.other', { merchant })}</span>
        </div>
      </div>
      {children}
    </div>
  );
}
