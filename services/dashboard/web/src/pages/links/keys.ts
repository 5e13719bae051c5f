import type { Place } from '../../api/client.ts';

/** Of the queries about payment links. */
export const linksKey = ({ accountId, mode }: Place): readonly string[] => ['payment-links', accountId, mode];
export const linkKey = (place: Place, id: string): readonly string[] => ['payment-link', ...linksKey(place), id];
