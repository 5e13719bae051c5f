/** Visible, though it is made of characters that alone are not: families, flags, hearts in color (UTS 51). */
const EMOJI = /\p{RGI_Emoji}/gv;
/**
 * What shows nothing, breaks a line or turns the direction: a text with it looks like another one. Beside Unicode's own
 * lists U+2800, the Braille pattern without dots, and U+1680, a space that is none of those that NFKC makes U+0020 of.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u1680\u2800]/u;
const EMOJI_OR_UNSEEN = new RegExp(`${EMOJI.source}|(${UNSEEN.source})`, 'gv');

/** The first character that is not seen, outside of emoji, as `U+200B`; null: there is none. */
export function unseenIn(text: string): string | null {
  const unseen = UNSEEN.exec(text.replaceAll(EMOJI, ''))?.[0];
  return unseen === undefined ? null : `U+${(unseen.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** One `\uXXXX` for each code unit, which JSON takes for the same. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at).toString(16).padStart(4, '0'))
    .map((code) => `\\u${code}`)
    .join('');

/**
 * A text that an account has written, for people to read: what is not seen in it is `\uXXXX`, apart from what emoji
 * consist of.
 * @param except characters that stay as they are
 */
export const withUnseenShown = (text: string, except = ''): string =>
  text.replaceAll(EMOJI_OR_UNSEEN, (found, unseen: string | undefined) =>
    unseen === undefined || except.includes(unseen) ? found : escaped(unseen),
  );
