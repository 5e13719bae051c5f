import { withUnseenShown } from '@pf/contracts/unseen';
import { useState } from 'react';
import { payments } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { paymentKey } from '../../api/stream.ts';
import type { Payment } from '../../api/types.ts';
import { DEVELOPERS, hasRole, useHere } from '../../shell/place.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Section } from '../../ui/page.tsx';
import { Written } from '../../ui/written.tsx';

/** Of a text, as many as a field shows at once: a field of one line would lose the others. */
const linesOf = (text: string): number => Math.min(text.split('\n').length, 8);

/** What the shop has written on a payment. */
export function Metadata({ payment: { id, metadata, updatedAt } }: { readonly payment: Payment }) {
  const here = useHere();
  const [edited, setEdited] = useState<string | null>(null);
  const entries = Object.entries(metadata ?? {});
  const canEdit = hasRole(here, DEVELOPERS);
  const isNew = edited === '';
  const save = async (changes: Record<string, string | null>): Promise<void> => {
    const { intent } = await payments(here)('patch', '/intents/{id}', {
      params: { id },
      body: { updatedAt, metadata: changes },
    });
    queryClient.setQueryData(paymentKey(here, id), intent);
    setEdited(null);
  };
  return (
    <Section title="Metadata" actions={canEdit && <Button onPress={() => setEdited('')}>Add</Button>}>
      {entries.length === 0 ? (
        <p className="muted small">None. Put the number of the order here, to find the payment by it.</p>
      ) : (
        <Facts
          rows={entries.map(([key, value]) => [
            withUnseenShown(key),
            <span className="row apart">
              <Written text={value} />
              {canEdit && (
                <button type="button" className="link small" aria-label={`Edit ${key}`} onClick={() => setEdited(key)}>
                  Edit
                </button>
              )}
            </span>,
          ])}
        />
      )}
      {edited !== null && (
        <Dialog title={isNew ? 'Add metadata' : `Edit ${edited}`} onClose={() => setEdited(null)}>
          <Form
            submit="Save"
            run={(field) => save({ [isNew ? field('key').trim() : edited]: field('value') })}
            cancel={
              isNew ? (
                <Button onPress={() => setEdited(null)}>Cancel</Button>
              ) : (
                <Button onPress={() => void save({ [edited]: null })}>Remove</Button>
              )
            }
          >
            {isNew && <Field label="Key" name="key" maxLength={40} isRequired autoFocus />}
            <Field
              label="Value"
              name="value"
              lines={linesOf(isNew ? '' : (metadata?.[edited] ?? ''))}
              maxLength={500}
              isRequired
              autoFocus={!isNew}
              defaultValue={isNew ? '' : (metadata?.[edited] ?? '')}
            />
          </Form>
        </Dialog>
      )}
    </Section>
  );
}
