import { z } from 'zod';
import { type Plan, type Preset, presetNames, PRESETS } from './plans.ts';
import type { PriceList } from './prices.ts';

const perSecond = z.number().positive().max(1e6);
const some = z.number().int().min(1).max(1e6);

/** An upstream as it is configured: its URL, or an object with what is known of its plan. */
const configured = z.strictObject({
  url: z.string().refine((url) => /^https?:\/\/./.test(url) && URL.canParse(url), 'must be an http:// or https:// URL'),
  /** For hints (hints.ts), where the plan has WebSockets. */
  stream: z
    .string()
    .refine((url) => /^wss?:\/\/./.test(url) && URL.canParse(url), 'must be a ws:// or wss:// URL')
    .optional(),
  /** What is known of a provider's plan; the fields beside it win. */
  preset: z.enum(presetNames).optional(),
  callsPerSecond: perSecond.optional(),
  sendsPerSecond: perSecond.optional(),
  creditsPerSecond: perSecond.optional(),
  batch: some.optional(),
  logRange: some.optional(),
  logAddresses: some.optional(),
  logTopics: some.optional(),
  historyBlocks: some.optional(),
  unsupported: z.array(z.string().regex(/^\w{1,64}$/, 'must be names of methods')).optional(),
  /** Sent with every request: keys, for one. Never logged. */
  headers: z
    .record(z.string().regex(/^[\w-]{1,64}$/, 'must be a name of a header'), z.string().regex(/^[\x20-\x7e]{1,4096}$/))
    .optional(),
});

/** One upstream of a pool. */
export interface UpstreamSettings {
  readonly url: string;
  /** `ws://` or `wss://`: says when to ask. Absent: only the poll does. */
  readonly stream?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly plan: Plan;
  /** What its calls cost; null where that is not known. */
  readonly prices: PriceList | null;
}

/** Parses one upstream of the configuration. Messages name the field, never its value. */
export const upstreamSchema: z.ZodType<UpstreamSettings> = z
  .preprocess((value) => (typeof value === 'string' ? { url: value } : value), configured)
  .transform(({ url, stream, headers = {}, preset, ...own }, context): UpstreamSettings => {
    const known: Preset | undefined = preset === undefined ? undefined : PRESETS[preset];
    const prices = known?.prices ?? null;
    if (own.creditsPerSecond !== undefined && prices === null)
      context.addIssue({ code: 'custom', path: ['creditsPerSecond'], message: 'needs a preset with prices' });
    return { url, ...(stream !== undefined && { stream }), headers, plan: { ...known?.plan, ...own }, prices };
  });

/** An upstream of which no more than its URL is known. */
export const upstreamAt = (url: string): UpstreamSettings => ({ url, headers: {}, plan: {}, prices: null });
