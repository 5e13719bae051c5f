import { PAYMENT_CHANGES, type PaymentChange, type PaymentOperationId } from '@pf/contracts/dashboard';
import { type AuditedChange, type AuditSource, type Database, recordChange, shownUrl } from '@pf/database';
import { parseJson } from '@pf/http';
import type { Logger } from '@pf/runtime';
import { z } from 'zod';

const object = z.object({ id: z.string() }).optional();
const shown = z.object({ intent: object, deposit: object, paymentLink: object, endpoint: object, replay: object });
const fieldsOf = z.record(z.string(), z.unknown());

/** A change that was forwarded to the gateway. */
interface ForwardedChange {
  readonly id: PaymentChange;
  readonly accountId: string;
  readonly livemode: boolean;
  /** The id in the path. */
  readonly subject: string | null;
  readonly request: Uint8Array | null;
  /** Null if it is not known what the gateway did. */
  readonly response: string | null;
}

/** Whether an operation of the payment API changes something. */
export const isChange = (id: PaymentOperationId): id is PaymentChange => Object.hasOwn(PAYMENT_CHANGES, id);

/**
 * Writes an entry of the audit log about a change that the gateway has made, or may have made: none where it is known
 * that nothing has changed.
 */
export async function recordPayment(
  { database, log }: { readonly database: Database; readonly log: Logger },
  by: AuditSource,
  { id, accountId, livemode, subject, request, response }: ForwardedChange,
): Promise<void> {
  if (id === 'updateIntent' && response !== null && isUnchanged(request, response)) return;
  const { action, fields } = PAYMENT_CHANGES[id];
  const created = response === null ? null : idIn(response);
  const after = {
    ...picked(request, fields),
    ...(subject !== null && created !== null && created !== subject && { created }),
    ...(response === null && { outcome: 'unknown' }),
  };
  const change: AuditedChange = {
    accountId,
    action,
    livemode,
    subject: subject ?? created,
    after: Object.keys(after).length === 0 ? null : after,
  };
  try {
    await recordChange(database.sql, by, change);
  } catch (error) {
    // The change has happened, so its response stands. This line is what remains of the entry.
    log.error({ err: error, by, change }, 'a change could not be written into the audit log');
  }
}

const dated = z.object({ updatedAt: z.iso.datetime({ offset: true }) });
const datedIntent = z.object({ intent: dated });

/** Whether an intent is still the one that its update was about: each change of it moves `updatedAt`. */
function isUnchanged(request: Uint8Array | null, response: string): boolean {
  const asked = dated.safeParse(fieldsIn(request)).data;
  const shown = datedIntent.safeParse(unlessMalformed(() => JSON.parse(response))).data;
  return (
    asked !== undefined && shown !== undefined && Date.parse(asked.updatedAt) === Date.parse(shown.intent.updatedAt)
  );
}

/** The id of the object in a response of the payment API. */
function idIn(response: string): string | null {
  const { intent, deposit, paymentLink, endpoint, replay } =
    shown.safeParse(unlessMalformed(() => JSON.parse(response))).data ?? {};
  return (intent ?? deposit ?? paymentLink ?? endpoint ?? replay)?.id ?? null;
}

/** These fields of a request; of a URL without its query, which may hold a secret. */
function picked(request: Uint8Array | null, names: readonly string[]): Readonly<Record<string, unknown>> {
  const fields = fieldsIn(request);
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = fields[name];
      if (value === undefined) return [];
      return [[name, name === 'url' && typeof value === 'string' ? shownUrl(value) : value]];
    }),
  );
}

/** The fields of a request, read as the gateway reads them: it has none where the gateway refuses it as malformed. */
export function fieldsIn(request: Uint8Array | null): Readonly<Record<string, unknown>> {
  if (request === null || request.length === 0) return {};
  return fieldsOf.safeParse(unlessMalformed(() => parseJson(request))).data ?? {};
}

function unlessMalformed(parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    // A request whose outcome is not known may be no JSON: then it shows no fields.
    return null;
  }
}
