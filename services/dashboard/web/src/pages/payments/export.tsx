import { useState } from 'react';
import { payments } from '../../api/client.ts';
import type { Payment, PaymentFilters } from '../../api/types.ts';
import { csvOf } from '../../format/csv.ts';
import { chipsOf } from '../../format/filters.ts';
import { useHere } from '../../shell/place.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

const ROWS_MAX = 10_000;
const PAGE = 100;

/** Reads the payments page by page and saves them as a file. */
export function Export({ filters, onClose }: { readonly filters: PaymentFilters; readonly onClose: () => void }) {
  const here = useHere();
  const [read, setRead] = useState(0);
  const chips = chipsOf(filters);
  return (
    <Dialog title="Export payments" onClose={onClose}>
      <Form
        submit="Export CSV"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async () => {
          const rows: Payment[] = [];
          for (let cursor: string | null = ''; cursor !== null && rows.length < ROWS_MAX;) {
            const page: { readonly intents: readonly Payment[]; readonly nextCursor: string | null } = await payments(
              here,
            )('get', '/intents', {
              query: { ...filters, limit: String(PAGE), ...(cursor !== '' && { cursor }) },
            });
            rows.push(...page.intents);
            cursor = page.nextCursor;
            setRead(rows.length);
          }
          save(`payments-${here.mode}-${new Date().toISOString().slice(0, 10)}.csv`, csvOf(rows));
          notify(`${rows.length} payments are exported.`);
          onClose();
        }}
      >
        <p>
          {chips.length === 0
            ? `All ${here.mode} payments`
            : `The payments with ${list(chips.map(({ label }) => label))}`}
          , newest first, at most {ROWS_MAX.toLocaleString('en')}. For more, export one span of time after another.
        </p>
        <p role="status" className="muted small">
          {read > 0 && `${read.toLocaleString('en')} read …`}
        </p>
      </Form>
    </Dialog>
  );
}

const list = (items: readonly string[]): string => new Intl.ListFormat('en').format(items);

function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
