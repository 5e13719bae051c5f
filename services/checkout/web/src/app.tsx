import { useEffect, useRef, useState } from 'preact/hooks';
import type { Client } from './api/client.ts';
import { allowedReturn, type Link, wholeLink } from './api/link.ts';
import type { Merchant } from './api/schemas.ts';
import { lastingStorage } from './api/storage.ts';
import { termsOf } from './check/terms.ts';
import { accentOf } from './format/color.ts';
import { formatAmount } from './format/money.ts';
import { type Translator, translatorOf } from './i18n/i18n.ts';
import { directionOf, type Language, LANGUAGES } from './i18n/languages.ts';
import type { Checkout } from './pay/checkout.ts';
import { statusOf } from './pay/status.ts';
import { TranslatorContext, useTranslator } from './ui/context.ts';
import { useSource } from './ui/hooks.ts';
import { Icon } from './ui/icon.tsx';
import { Paying } from './ui/paying.tsx';
import { ProblemNote } from './ui/problem-note.tsx';
import { StatusLine } from './ui/status-line.tsx';
import { Summary } from './ui/summary.tsx';

export const LANGUAGE_KEY = 'language';

interface Props {
  /** Null for an address that is no payment's. */
  readonly place: { readonly link: Link; readonly client: Client; readonly checkout: Checkout } | null;
  readonly translator: Translator;
}

/** The page, in the language that was chosen. */
export function App({ place, translator }: Props) {
  const [t, setTranslator] = useState(() => translator);
  useEffect(() => {
    document.documentElement.lang = t.language;
    document.documentElement.dir = directionOf(t.language);
  }, [t]);
  const speak = (language: Language): void => {
    lastingStorage.setItem(LANGUAGE_KEY, language);
    void translatorOf(language).then((loaded) => setTranslator(() => loaded));
  };
  return (
    <TranslatorContext.Provider value={t}>
      {place === null ? <Unknown /> : <Page {...place} />}
      <footer>
        <label>
          <span class="hidden">{t('page.language')}</span>
          <select value={t.language} onChange={({ currentTarget }) => speak(currentTarget.value as Language)}>
            {Object.entries(LANGUAGES).map(([language, name]) => (
              <option key={language} value={language} lang={language}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </footer>
    </TranslatorContext.Provider>
  );
}

function Unknown() {
  return (
    <main class="card alone">
      <StatusLine status={{ key: 'unknown', tone: 'bad', isPayable: false }} params={{}} />
    </main>
  );
}

function Page({ link, client, checkout }: NonNullable<Props['place']>) {
  const t = useTranslator();
  const [source] = useState(() => ({
    get: () => checkout.state,
    subscribe: (listener: () => void) => checkout.subscribe(listener),
  }));
  const state = useSource(source, checkout.state);
  const { intent, merchant, problem, step, unexpected, missing, connection } = state;
  const status = statusOf(state);
  const name = merchant?.name ?? t('page.merchant_unknown');
  const terms = intent && termsOf(intent);
  const page = wholeLink(new URL(location.href), link);
  const money = (decimal: string): string => `${formatAmount(decimal, t.language)}\u00a0${intent?.token ?? ''}`;
  const received = unexpected?.payment.amount ?? null;
  const params = {
    merchant: name,
    amount: intent === null ? '' : money(intent.amount),
    received: received === null ? t('difference.token') : money(received),
    wallet: 'wallet' in step ? step.wallet.name : '',
  };

  const clock = useClock(client);
  useAccent(merchant?.accentColor ?? null);
  useEffect(() => {
    document.title =
      intent === null
        ? t('page.title')
        : `${t(`status.${status.key}.title`, params)} · ${t('page.title_amount', params)}`;
  });
  const main = useKeptFocus(`${status.key} ${step.kind}`);

  if (intent === null)
    return (
      <main class="card alone" ref={main} tabIndex={-1}>
        <StatusLine status={status} params={params} />
        {missing === 'unreachable' && (
          <button type="button" class="primary" onClick={() => void checkout.start()}>
            {t('pay.reload')}
          </button>
        )}
      </main>
    );
  const [way, support] = [allowedReturn(link.returnUrl, merchant?.returnOrigins ?? []), supportOf(merchant)];
  return (
    <>
      {!intent.livemode && <p class="test-mode">{t('page.test')}</p>}
      <main class="card">
        <Summary intent={intent} terms={terms} merchant={merchant} name={name} clock={clock} />
        <section class="paying" ref={main} tabIndex={-1} aria-label={t('page.title')}>
          <StatusLine status={status} params={params} />
          {problem && <ProblemNote problem={problem} params={params} />}
          {connection !== 'live' && <p class="muted small connection">{t(`connection.${connection}`)}</p>}
          <Paying
            checkout={checkout}
            state={state}
            intent={intent}
            terms={terms}
            status={status}
            name={name}
            page={page}
            isEmbedded={window.top !== window.self}
          />
          {(way !== null || support !== null) && (
            <p class="row ends">
              {way !== null && (
                <a class={status.tone === 'good' ? 'primary' : 'quiet'} href={way} target="_top" rel="noreferrer">
                  <Icon name="back" />
                  {t('back.do', { merchant: name })}
                </a>
              )}
              {support !== null && (
                <a class="quiet" href={support} target="_blank" rel="noopener noreferrer">
                  {t('back.support', { merchant: name })}
                </a>
              )}
            </p>
          )}
        </section>
      </main>
    </>
  );
}

/** Only a page on the web: the setting allows nothing else, and neither does this page. */
function supportOf(merchant: Merchant | null): string | null {
  const url = merchant?.supportUrl ?? null;
  return url !== null && URL.parse(url)?.protocol === 'https:' ? url : null;
}

function useClock(client: Client): () => number {
  const [clock] = useState(() => () => client.now());
  return clock;
}

/** Sets the merchant's color by script: a style in the page's text would be refused by its policy. */
function useAccent(color: string | null): void {
  useEffect(() => {
    const { light, onLight, dark, onDark } = accentOf(color);
    const { style } = document.documentElement;
    const all = { 'accent-light': light, 'on-accent-light': onLight, 'accent-dark': dark, 'on-accent-dark': onDark };
    for (const [property, value] of Object.entries(all)) style.setProperty(`--${property}`, value);
  }, [color]);
}

/** When what had the focus is gone, it goes to the place where something new is, not to the top of the page. */
function useKeptFocus(what: string) {
  const placeRef = useRef<HTMLElement>(null);
  const isFirstRef = useRef(true);
  useEffect(() => {
    if (isFirstRef.current) isFirstRef.current = false;
    else if (document.activeElement === document.body) placeRef.current?.focus({ preventScroll: true });
  }, [what]);
  return placeRef;
}
