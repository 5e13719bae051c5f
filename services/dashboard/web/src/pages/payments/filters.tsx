import type { PaymentFilters, State } from '../../api/types.ts';
import { instantOf, localTime } from '../../format/time.ts';
import { networksOf } from '../../format/networks.ts';
import { STATE_NAMES, STATES } from '../../format/states.ts';
import { useHere } from '../../shell/place.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Choice, Field, Tick } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

/** Every filter that the API has. */
export function Filters({
  filters,
  onChange,
  onClose,
}: {
  readonly filters: PaymentFilters;
  readonly onChange: (filters: PaymentFilters) => void;
  readonly onClose: () => void;
}) {
  const { mode } = useHere();
  const networks = networksOf(mode);
  const tokens = [...new Set(networks.flatMap((network) => network.tokens.map(({ symbol }) => symbol)))];
  const [metadataKey = '', metadataValue = ''] = Object.entries(filters.metadata ?? {})[0] ?? [];
  return (
    <Dialog title="Filter payments" wide onClose={onClose}>
      <Form
        submit="Show payments"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field, form) => {
          const state = form.getAll('state') as State[];
          const key = field('metadataKey').trim();
          const direction = field('direction');
          const texts = (['chain', 'token', 'requestor', 'fulfiller', 'reference', 'txSignature'] as const)
            .map((name) => [name, field(name).trim()] as const)
            .filter(([, value]) => value !== '');
          const times = (['createdAfter', 'createdBefore'] as const)
            .map((name) => [name, field(name)] as const)
            .filter(([, value]) => value !== '');
          onChange({
            ...Object.fromEntries(texts),
            ...Object.fromEntries(times.map(([name, value]) => [name, instantOf(value)])),
            ...((direction === 'request' || direction === 'send') && { direction }),
            ...(state.length > 0 && { state }),
            ...(key !== '' && { metadata: { [key]: field('metadataValue') } }),
          });
          onClose();
        }}
      >
        <fieldset>
          <legend>State</legend>
          <div className="ticks">
            {STATE_NAMES.map((name) => (
              <Tick
                key={name}
                name="state"
                value={name}
                label={STATES[name].label}
                initial={filters.state?.includes(name) ?? false}
              />
            ))}
          </div>
        </fieldset>
        <div className="halves">
          <Choice
            label="Network"
            name="chain"
            initial={filters.chain ?? ''}
            options={[['', 'Any'], ...networks.map(({ chain, label }) => [chain as string, label] as const)]}
          />
          <Choice
            label="Token"
            name="token"
            initial={filters.token ?? ''}
            options={[['', 'Any'], ...tokens.map((symbol) => [symbol, symbol] as const)]}
          />
          <Choice
            label="Direction"
            name="direction"
            initial={filters.direction ?? ''}
            options={[
              ['', 'Any'],
              ['request', 'Requested from a payer'],
              ['send', 'Sent by you, refunds too'],
            ]}
          />
          <Field label="Transaction" name="txSignature" mono defaultValue={filters.txSignature ?? ''} />
          <Field label="From wallet" name="fulfiller" mono defaultValue={filters.fulfiller ?? ''} />
          <Field label="To wallet" name="requestor" mono defaultValue={filters.requestor ?? ''} />
          <Field label="Reference" name="reference" mono defaultValue={filters.reference ?? ''} />
          <span />
          <Field
            label="Created after"
            name="createdAfter"
            type="datetime-local"
            defaultValue={localTime(filters.createdAfter)}
          />
          <Field
            label="Created before"
            name="createdBefore"
            type="datetime-local"
            defaultValue={localTime(filters.createdBefore)}
          />
          <Field
            label="Metadata key"
            name="metadataKey"
            maxLength={40}
            placeholder="order"
            defaultValue={metadataKey}
          />
          <Field
            label="Metadata value"
            name="metadataValue"
            maxLength={500}
            placeholder="A-1001"
            defaultValue={metadataValue}
          />
        </div>
      </Form>
    </Dialog>
  );
}
