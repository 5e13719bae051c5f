/** Visible, though it is made of characters that alone are not: families, flags, hearts in color (UTS 51). */
const EMOJI = /\p{RGI_Emoji}/gv;
/**
 * What shows nothing, breaks a line or turns the direction: a text with it looks like another one. Beside Unicode's own
 * lists U+2800, the Braille pattern without dots, and U+1680, a space that is none of those that NFKC makes U+0020 of.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u1680\u2800]/u;
/** What JSON writes with six bytes. Those from U+007F on have two, and occur where a text was decoded wrongly. */
const CONTROL = /[\p{Cc}--[\t\n\r\u007F-\u009F]]/v;
/** Letters of the Arabic script that join to the next one: Joining_Type D of Unicode's ArabicShaping.txt. */
const JOINS_NEXT =
  String.raw`[\u0626\u0628\u062A-\u062E\u0633-\u063F\u0641-\u0647\u0649\u064A\u066E\u066F\u0678-\u0687` +
  String.raw`\u069A-\u06BF\u06C1\u06C2\u06CC\u06CE\u06D0\u06D1\u06FA-\u06FC\u06FF]`;
/** All others of it join to the one before, but for the hamza. */
const JOINS_LAST = String.raw`[[\p{L}&&\p{Script=Arabic}]--[\u0621\u0674]]`;
const VIRAMA = String.raw`[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA]`;
const INDIC = ['Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh']
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');
/**
 * Joiners that change how the letters beside them look, and without which words are wrong: "می‌شود", "क्‍ष" (RFC 5892,
 * appendix A; UTS 39, section 3.1.1). The last one is Bengali's ra with ya-phala, "র‍্য".
 */
const JOINERS = [
  String.raw`(?<=${JOINS_NEXT}\p{M}{0,4})\u200C(?=\p{M}{0,4}${JOINS_LAST})`,
  String.raw`(?<=${VIRAMA})[\u200C\u200D](?=[\p{L}&&[${INDIC}]])`,
  String.raw`(?<=\u09B0)\u200D(?=\u09CD\u09AF)`,
].join('|');
const VISIBLE = new RegExp(`${EMOJI.source}|${JOINERS}`, 'gv');
const VISIBLE_OR_UNSEEN = new RegExp(`${VISIBLE.source}|(${UNSEEN.source})`, 'gv');

/** The first character that is not seen, outside of emoji and words that need it, as `U+200B`; null: there is none. */
export const unseenIn = (text: string): string | null => firstOf(UNSEEN, text.replaceAll(VISIBLE, ''));

/** The first control character (U+0000 to U+001F) that is no tab and ends no line, as `U+0001`; null: there is none. */
export const controlIn = (text: string): string | null => firstOf(CONTROL, text);

function firstOf(characters: RegExp, text: string): string | null {
  const found = characters.exec(text)?.[0];
  return found === undefined ? null : `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** One `\uXXXX` for each code unit, which JSON takes for the same. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at).toString(16).padStart(4, '0'))
    .map((code) => `\\u${code}`)
    .join('');

/**
 * A text that an account has written, for people to read: what is not seen in it is `\uXXXX`, apart from what emoji
 * consist of, and words that need joiners.
 * @param except characters that stay as they are
 */
export const withUnseenShown = (text: string, except = ''): string =>
  text.replaceAll(VISIBLE_OR_UNSEEN, (found, unseen: string | undefined) =>
    unseen === undefined || except.includes(unseen) ? found : escaped(unseen),
  );
