import { queryString } from '../api/query-string.ts';
import { short } from './money.ts';

export interface Found {
  readonly label: string;
  /** The path of a page, inside the account. */
  readonly href: string;
}

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
const ADDRESS = new RegExp(`^(0x[0-9a-fA-F]{40}|${BASE58}{32,44})$`);
const REFERENCE = new RegExp(`^(0x[0-9a-fA-F]{64}|${BASE58}{32,44})$`);
const TRANSACTION = new RegExp(`^(0x[0-9a-fA-F]{64}|${BASE58}{64,90})$`);
const METADATA = /^([^=\s][^=]{0,39})=(.{0,500})$/;

/** What a text that was typed or pasted can mean: ids, wallets, transactions, metadata as `key=value`. */
export function meaningsOf(typed: string): readonly Found[] {
  const text = typed.trim();
  const list = (label: string, filter: object): Found => ({ label, href: `/payments${queryString(filter)}` });
  const found: Found[] = [];
  if (/^pi_\w+$/.test(text)) found.push({ label: `Payment ${text}`, href: `/payments/${text}` });
  if (/^pl_\w+$/.test(text)) found.push({ label: `Payment link ${text}`, href: `/payment-links/${text}` });
  if (/^whe_\w+$/.test(text)) found.push({ label: `Webhook endpoint ${text}`, href: `/developers/endpoints/${text}` });
  if (/^evt_\w+$/.test(text))
    found.push({
      label: `Deliveries of event ${text}`,
      href: `/developers/deliveries${queryString({ eventId: text })}`,
    });
  if (TRANSACTION.test(text)) found.push(list(`Payments by transaction ${short(text)}`, { txSignature: text }));
  if (ADDRESS.test(text))
    found.push(
      list(`Payments from wallet ${short(text)}`, { fulfiller: text }),
      list(`Payments to wallet ${short(text)}`, { requestor: text }),
    );
  if (REFERENCE.test(text)) found.push(list(`Payments with reference ${short(text)}`, { reference: text }));
  const [, key, value] = METADATA.exec(text) ?? [];
  if (key !== undefined && value !== undefined)
    found.push(list(`Payments with metadata ${key} = ${value}`, { metadata: { [key.trim()]: value.trim() } }));
  return found;
}
