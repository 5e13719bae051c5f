import { isCalled } from '@pf/chains/networks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { payments } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { settingsQuery } from '../../api/settings.ts';
import { networksOf } from '../../format/networks.ts';
import { useHere } from '../../shell/place.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Choice, Field, Tick } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

/** For tests in which no money arrives: nobody has its key. */
const EXAMPLE_WALLET = '0x1111111111111111111111111111111111111111';
const FIRST = 'eip155:84532';

/** Creates a request to be paid. */
export function NewPayment({ onClose }: { readonly onClose: () => void }) {
  const here = useHere();
  const isTest = here.mode === 'test';
  const networks = networksOf(here.mode);
  const [, navigate] = useLocation();
  const [chosen, setChosen] = useState<string>(networks.find(({ chain }) => chain === FIRST)?.chain ?? '');
  const network = networks.find(({ chain }) => chain === chosen) ?? networks[0];
  const isEvm = network?.chain.startsWith('eip155:') ?? true;
  const settings = useQuery(settingsQuery(here.accountId));
  const own = network && settings.data?.settings.wallets[network.family];
  return (
    <Dialog title={isTest ? 'New test payment' : 'New payment'} onClose={onClose}>
      <Form
        submit="Create payment"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field, form) => {
          const order = field('order').trim();
          const { intent } = await payments(here)('post', '/intents', {
            body: {
              chain: field('chain'),
              token: field('token'),
              amount: field('amount').trim(),
              requestor: field('requestor').trim(),
              ...(form.has('accept') && { accept: 'at_least' as const }),
              ...(order !== '' && { metadata: { order } }),
            },
          });
          await queryClient.invalidateQueries({ queryKey: ['payments', here.accountId, here.mode] });
          onClose();
          navigate(`/payments/${intent.id}`);
        }}
      >
        <Field
          label="Amount"
          name="amount"
          inputMode="decimal"
          defaultValue={isTest ? '12.50' : ''}
          isRequired
          autoFocus
          mono
        />
        <Tick name="accept" label="Also with more, such as a tip" hint="One payment of the amount or more pays it." />
        <div className="halves">
          <Choice
            label="Network"
            name="chain"
            value={network?.chain ?? ''}
            onChange={setChosen}
            options={networks.map(({ chain, label }) => [chain as string, label] as const)}
          />
          <Choice
            // Another network has other tokens.
            key={network?.chain}
            label="Token"
            name="token"
            initial={network?.tokens.find((token) => isCalled(token, 'USDC'))?.symbol ?? ''}
            options={(network?.tokens ?? []).map(({ symbol }) => [symbol, symbol] as const)}
          />
        </div>
        <Field
          // Each family has a wallet of its own, and the settings may come later than this window.
          key={`${network?.family ?? ''} ${own ?? ''}`}
          label="To wallet"
          name="requestor"
          mono
          isRequired
          defaultValue={own ?? (isTest && isEvm ? EXAMPLE_WALLET : '')}
          hint={
            own
              ? 'The wallet of your settings. It receives the money; the service never holds it.'
              : isTest && isEvm
                ? 'An example, which is fine for simulated payments. Put your own wallet to see tokens arrive.'
                : 'Your wallet on this network. It receives the money; the service never holds it.'
          }
        />
        <Field
          label="Order"
          name="order"
          maxLength={500}
          placeholder="A-1001"
          hint="Kept as metadata: you find the payment by it, and get it back with each event."
        />
      </Form>
    </Dialog>
  );
}
