import { useMutation } from '@tanstack/react-query';
import { Wallet } from 'lucide-react';
import { useState, useSyncExternalStore } from 'react';
import { payments } from '../../api/client.ts';
import { ApiError, messageOf } from '../../api/error.ts';
import { queryClient } from '../../api/query-client.ts';
import { eventsKey, paymentKey } from '../../api/stream.ts';
import type { Payment } from '../../api/types.ts';
import { amount, short } from '../../format/money.ts';
import { networkLabel } from '../../format/networks.ts';
import { type Here, useHere } from '../../shell/place.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { evmWallets } from '../../wallets/evm.ts';
import { solanaWallets } from '../../wallets/solana.ts';
import type { BrowserWallet } from '../../wallets/wallet.ts';

/** A wallet that sends by itself is faster than the nodes that are asked for its transaction. */
const ATTEMPTS = 15;
const PAUSE_MS = 2_000;

/** Pays what the shop itself has to pay, such as a refund, with a wallet of this browser. */
export default function Sign({ payment, payer }: { readonly payment: Payment; readonly payer: string }) {
  const here = useHere();
  const { id, chain, refundOf } = payment;
  const family = chain.startsWith('solana:') ? solanaWallets : evmWallets;
  const wallets = useSyncExternalStore(family.subscribe, family.get);
  const [sent, setSent] = useState<string>();
  const paying = useMutation({
    mutationFn: async (wallet: BrowserWallet) => {
      setSent(undefined);
      const build = async () =>
        (await payments(here)('post', '/intents/{id}/build', { params: { id }, body: {} })).transaction;
      const signed = await wallet.sign({ chain, payer, build });
      setSent(signed);
      queryClient.setQueryData(paymentKey(here, id), await submit(here, id, signed));
      void queryClient.invalidateQueries({ queryKey: eventsKey(here, id) });
    },
  });
  return (
    <section className="card stack" aria-labelledby="sign">
      <div className="stack tight">
        <h2 id="sign">{refundOf === null ? 'Pay it with your wallet' : 'Sign the refund with your wallet'}</h2>
        <p className="muted">
          {amount(payment.amount)} {payment.token} on {networkLabel(chain)} go from your wallet{' '}
          <code title={payer}>{short(payer)}</code> to <code title={payment.requestor}>{short(payment.requestor)}</code>
          . No money moves before you sign.
        </p>
      </div>
      {wallets.length === 0 ? (
        <Notice kind="info" title="No wallet is in this browser">
          Open this page where the wallet {short(payer)} is installed. A program of yours can pay it as well, with the
          operations build and submit of the payment API.
        </Notice>
      ) : (
        <div className="row">
          {wallets.map((wallet) => (
            <Button
              key={wallet.id}
              icon={
                wallet.icon === null ? <Wallet size={18} aria-hidden /> : <img src={wallet.icon} alt="" width={18} />
              }
              isPending={paying.isPending && paying.variables.id === wallet.id}
              isDisabled={paying.isPending}
              onPress={() => paying.mutate(wallet)}
            >
              Sign with {wallet.name}
            </Button>
          ))}
        </div>
      )}
      <div role="status">
        {paying.isPending && (
          <p className="muted">{sent === undefined ? 'Confirm it in your wallet …' : 'Signed. It is on its way …'}</p>
        )}
      </div>
      {paying.error && (
        <Failure error={paying.error} wasSent={sent !== undefined && paying.error instanceof ApiError} />
      )}
    </section>
  );
}

const Failure = ({ error, wasSent }: { readonly error: Error; readonly wasSent: boolean }) =>
  wasSent ? (
    <Notice kind="warn" title="It is signed, but was not accepted yet">
      {messageOf(error)} If your wallet has sent it, it appears here once it is found on the chain: do not sign again
      before.
    </Notice>
  ) : (
    <Notice kind="bad">{messageOf(error)}</Notice>
  );

async function submit(here: Here, id: string, signedTransaction: string): Promise<Payment> {
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await payments(here)('post', '/intents/{id}/submit', {
        params: { id },
        body: { signedTransaction },
      });
      return answer.intent;
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isTemporary || attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
