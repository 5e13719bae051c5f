import { render } from 'preact';
import { Client } from './api/client.ts';
import { type Link, type OffersLink, readLink, readOffersLink } from './api/link.ts';
import { lastingStorage, tabStorage } from './api/storage.ts';
import { App, LANGUAGE_KEY, Page, Unknown } from './app.tsx';
import { translatorOf } from './i18n/i18n.ts';
import { languageOf } from './i18n/languages.ts';
import { Checkout } from './pay/checkout.ts';
import { walletsOn } from './wallets/load.ts';
import './styles.css';

const url = new URL(location.href);
const link = readLink(url, tabStorage);
const offersLink = readOffersLink(url, tabStorage);
// The secret stays out of what people copy, share and look over.
if (url.hash !== '') history.replaceState(null, '', `${url.pathname}${url.search}`);

// Without its secret the page can show nothing: it says that the link is incomplete.
const page = link?.clientSecret ? (
  payment(link, link.clientSecret)
) : offersLink?.clientSecret ? (
  await offers(offersLink, offersLink.clientSecret)
) : (
  <Unknown />
);

function payment(known: Link, clientSecret: string) {
  const client = new Client(known.intentId, clientSecret);
  const checkout = new Checkout(client, known.intentId, lastingStorage, walletsOn);
  void checkout.start();
  // Other tabs may have asked a wallet.
  addEventListener('storage', () => checkout.look());
  return <Page link={known} client={client} checkout={checkout} />;
}

async function offers(known: OffersLink, clientSecret: string) {
  const [{ OffersPage }, { LinkClient }] = await Promise.all([import('./offers.tsx'), import('./api/link-client.ts')]);
  return <OffersPage link={known} client={new LinkClient(known.linkId, clientSecret)} />;
}

const wanted = [url.searchParams.get('lang'), lastingStorage.getItem(LANGUAGE_KEY), ...navigator.languages];
const translator = await translatorOf(languageOf(wanted));
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root.');
render(<App translator={translator}>{page}</App>, root);
