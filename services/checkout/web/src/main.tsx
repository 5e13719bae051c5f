import { render } from 'preact';
import { Client } from './api/client.ts';
import { readLink } from './api/link.ts';
import { lastingStorage, tabStorage } from './api/storage.ts';
import { App, LANGUAGE_KEY } from './app.tsx';
import { translatorOf } from './i18n/i18n.ts';
import { languageOf } from './i18n/languages.ts';
import { Checkout } from './pay/checkout.ts';
import './styles.css';

const url = new URL(location.href);
const link = readLink(url, tabStorage);
// The secret stays out of what people copy, share and look over.
if (url.hash !== '') history.replaceState(null, '', `${url.pathname}${url.search}`);
// Without its secret the page can show nothing: it says that the link is incomplete.
const place = link?.clientSecret ? placeOf(link, link.clientSecret) : null;

function placeOf(known: NonNullable<typeof link>, clientSecret: string) {
  const client = new Client(known.intentId, clientSecret);
  return { link: known, client, checkout: new Checkout(client, known.intentId, lastingStorage) };
}

const wanted = [url.searchParams.get('lang'), lastingStorage.getItem(LANGUAGE_KEY), ...navigator.languages];
void place?.checkout.start();
const translator = await translatorOf(languageOf(wanted));
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root.');
render(<App place={place} translator={translator} />, root);
