import { withUnseenShown } from '@pf/contracts/unseen';

/** What may stay of a text: it breaks lines, or aligns. */
const LAYOUT = '\n\t';

/** A text that someone has written, with its lines; what else is not seen in it is `\\uXXXX`. */
export const written = (text: string): string => withUnseenShown(text.replaceAll('\r\n', '\n'), LAYOUT);

/** Such a text in its lines, of which a few are shown at once. */
export const Written = ({ text }: { readonly text: string }) => <span className="written">{written(text)}</span>;
