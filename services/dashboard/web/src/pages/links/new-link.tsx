import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { payments } from '../../api/client.ts';
import { ExplainedError } from '../../api/error.ts';
import { queryClient } from '../../api/query-client.ts';
import { settingsQuery } from '../../api/settings.ts';
import { metadataIn, type Offerable, offerable, offerLabel } from '../../format/links.ts';
import { short } from '../../format/money.ts';
import { useHere } from '../../shell/place.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Choice, Field, Tick } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Notice } from '../../ui/notice.tsx';
import { linksKey } from './keys.ts';

const HOUR = 3_600;
const USUAL = String(24 * HOUR);
const TIMES = [
  [String(HOUR), '1 hour'],
  [USUAL, '24 hours'],
  [String(72 * HOUR), '3 days'],
  [String(168 * HOUR), '7 days'],
] as const;

/** Creates a payment link. Its offers are paid to the wallets of the settings. */
export function NewLink({ onClose }: { readonly onClose: () => void }) {
  const here = useHere();
  const settings = useQuery(settingsQuery(here.accountId));
  return (
    <Dialog title={here.mode === 'test' ? 'New test payment link' : 'New payment link'} wide onClose={onClose}>
      <Loaded query={settings}>
        {({ settings: { wallets } }) => {
          const offers = offerable(here.mode, wallets);
          return offers.length === 0 ? (
            <Notice kind="info" title="No wallet is known yet.">
              A link is paid to the wallets of your <Link href="/settings">settings</Link>: put one there for each
              network on which you want to be paid.
            </Notice>
          ) : (
            <Fields offers={offers} onClose={onClose} />
          );
        }}
      </Loaded>
    </Dialog>
  );
}

function Fields({ offers, onClose }: { readonly offers: readonly Offerable[]; readonly onClose: () => void }) {
  const here = useHere();
  const [, navigate] = useLocation();
  return (
    <Form
      submit="Create payment link"
      cancel={<Button onPress={onClose}>Cancel</Button>}
      run={async (field, form) => {
        const chosen = offers.filter((_offer, number) => form.getAll('offers').includes(String(number)));
        if (chosen.length === 0) throw new ExplainedError('Choose at least one way to pay.');
        const metadata = metadataIn(field('metadata'));
        const ttl = field('ttlSeconds');
        const { paymentLink } = await payments(here)('post', '/payment-links', {
          body: {
            amount: field('amount').trim(),
            offers: chosen.map(({ chain, token, requestor }) => ({ chain, token, requestor })),
            ...(form.has('attribution') && { attribution: 'amount' as const }),
            ...(form.has('accept') && { accept: 'at_least' as const }),
            ...(ttl !== USUAL && { ttlSeconds: Number(ttl) }),
            ...(metadata && { metadata }),
          },
        });
        await queryClient.invalidateQueries({ queryKey: linksKey(here) });
        onClose();
        navigate(`/payment-links/${paymentLink.id}`);
      }}
    >
      <div className="halves">
        <Field
          label="Amount"
          name="amount"
          inputMode="decimal"
          defaultValue={here.mode === 'test' ? '12.50' : ''}
          hint="The same in each token that you offer."
          isRequired
          autoFocus
          mono
        />
        <Choice
          label="Can be paid for"
          name="ttlSeconds"
          initial={USUAL}
          options={TIMES}
          hint="Then the link expires, and what was begun of it."
        />
      </div>
      <fieldset>
        <legend>Ways to pay</legend>
        <div className="ticks">
          {offers.map((offer, number) => (
            <Tick
              key={offerLabel(offer)}
              name="offers"
              value={String(number)}
              label={offerLabel(offer)}
              hint={
                <>
                  To <code title={offer.requestor}>{short(offer.requestor)}</code>
                </>
              }
              initial={offer.isUsual}
            />
          ))}
        </div>
        <p className="muted small">
          They are paid to the wallets of your <Link href="/settings">settings</Link>.
        </p>
        <Tick
          name="attribution"
          value="amount"
          label="Also from an exchange or any wallet"
          hint="Up to 0.009999 is added to the amount, by which a plain transfer is recognized."
        />
        <Tick
          name="accept"
          label="Also with more, such as a tip"
          hint="One payment of the amount or more pays the link. Not together with the line above."
        />
      </fieldset>
      <Field
        label="Metadata"
        name="metadata"
        lines={3}
        placeholder={'order=A-1001\ncustomer=Ada'}
        hint="One key=value a line. The payment that pays the link has them, too: you find it by them."
        mono
      />
    </Form>
  );
}
