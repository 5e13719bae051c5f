import { text } from '../api/fields.ts';
import { isWithin } from '../scalars.ts';
import { unseenIn } from '../unseen.ts';

/** Scripts whose letters look like those of another one: "Раураl" has four Cyrillic ones. */
const ALIKE = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu'] as const;
const LETTERS_OF = ALIKE.map((script) => [script, new RegExp(`\\p{Script=${script}}`, 'u')] as const);
const WORD = /[\p{L}\p{M}]+/gu;
/** What programs for mail make a link of. */
const DOMAIN = /[\p{L}\p{N}-]+(?:[.\u3002][\p{L}\p{N}-]+)*[.\u3002]\p{L}{2,}/u;

interface NameRules {
  /** Whether the service mails it: then it is no domain either, which a reader could open. */
  readonly isMailed?: boolean;
}

/** A name as it is stored: what looks equal is equal. */
const canonical = (value: string): string => value.normalize('NFKC').trim().replaceAll(/ {2,}/g, ' ');

/** What is wrong with a name and what to do; null: nothing. */
function problemOf(value: string, max: number, { isMailed = false }: NameRules): string | null {
  const name = canonical(value);
  if (name === '' || !isWithin(name, max)) return `must be a name of 1 to ${max} visible characters on one line`;
  const unseen = unseenIn(name);
  if (unseen !== null) return `must not contain ${unseen}, which is invisible or no character: leave it out`;
  for (const [word] of name.matchAll(WORD)) {
    const [first, second] = LETTERS_OF.filter(([, letters]) => letters.test(word)).map(([script]) => script);
    if (first !== undefined && second !== undefined)
      return `must not mix ${first} and ${second} letters in "${word}", because they look alike: use one alphabet`;
  }
  if (name.includes('://')) return 'must not contain "://": write the name without a link';
  const domain = isMailed ? DOMAIN.exec(name)?.[0] : undefined;
  if (domain === undefined) return null;
  return `must not contain "${domain}", because mails with the name would link to it: write it without the dot`;
}

/** A name that others read: members, payers, who is invited by mail. It is one line without any character unseen. */
export const name = (max: number, rules: NameRules = {}) =>
  text(1, max)
    .refine((value) => problemOf(value, max, rules) === null, {
      abort: true,
      error: ({ input }) => problemOf(String(input), max, rules) ?? 'must be a name',
    })
    .transform(canonical);
