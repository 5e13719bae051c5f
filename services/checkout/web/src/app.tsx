import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Client } from './api/client.ts';
import { type Link, wholeLink } from './api/link.ts';
import type { Intent } from './api/schemas.ts';
import { lastingStorage } from './api/storage.ts';
import { termsOf } from './check/terms.ts';
import { formatAmount } from './format/money.ts';
import { type Translator, translatorOf } from './i18n/i18n.ts';
import { directionOf, type Language, LANGUAGES } from './i18n/languages.ts';
import type { Checkout } from './pay/checkout.ts';
import { helpsOwnFee, isMore, noteOf, receivedIn, statusOf } from './pay/status.ts';
import { TranslatorContext, useTranslator } from './ui/context.ts';
import { Ends } from './ui/ends.tsx';
import { useAccent, useSource, useTitle } from './ui/hooks.ts';
import { Paying } from './ui/paying.tsx';
import { ProblemNote } from './ui/problem-note.tsx';
import { StatusLine } from './ui/status-line.tsx';
import { Summary } from './ui/summary.tsx';
import { Words } from './ui/words.tsx';

export const LANGUAGE_KEY = 'language';

interface Props {
  readonly children: ComponentChildren;
  readonly translator: Translator;
}

/** A page, in the language that was chosen. */
export function App({ children, translator }: Props) {
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
      {/* All words change: those that the browser has translated, too. */}
      <Fragment key={t.language}>{children}</Fragment>
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

/** For an address that is no payment's. */
export function Unknown() {
  return (
    <main class="card alone">
      <StatusLine status={{ key: 'unknown', tone: 'bad', offers: 'nothing' }} params={{}} />
    </main>
  );
}

interface PageProps {
  readonly link: Link;
  readonly client: Client;
  readonly checkout: Checkout;
}

/** The page of a payment. */
export function Page({ link, client, checkout }: PageProps) {
  const t = useTranslator();
  const [source] = useState(() => ({
    get: () => checkout.state,
    subscribe: (listener: () => void) => checkout.subscribe(listener),
  }));
  const state = useSource(source, checkout.state);
  const { intent, merchant, problem, step, money, missing, connection } = state;
  const status = statusOf(state);
  const name = merchant?.name ?? t('page.merchant_unknown');
  const terms = intent && termsOf(intent);
  const page = wholeLink(new URL(location.href), link);
  const amountOf = (decimal: string): string => `${formatAmount(decimal, t.language)}\u00a0${intent?.token ?? ''}`;
  const received = receivedIn(money)?.amount ?? null;
  const params = {
    merchant: name,
    amount: intent === null ? '' : amountOf(intent.amountReceived ?? intent.amount),
    asked: intent === null ? '' : amountOf(intent.amount),
    received: received === null ? t('difference.token') : amountOf(received),
    wallet: 'wallet' in step ? step.wallet.name : '',
  };

  const clock = useClock(client);
  useAccent(merchant?.accentColor ?? null);
  useTitle(
    intent === null
      ? t('page.title')
      : `${t(`status.${status.key}.title`, params)} · ${t('page.title_amount', params)}`,
  );
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
  return (
    <>
      {!intent.livemode && <p class="test-mode">{t('page.test')}</p>}
      <main class="card">
        <Summary intent={intent} terms={terms} merchant={merchant} name={name} clock={clock} />
        <section class="paying" ref={main} tabIndex={-1} aria-label={t('page.title')}>
          <StatusLine status={status} params={params} />
          {isMore(intent) && <p class="muted small">{t('paid.more', params)}</p>}
          {problem && (
            <ProblemNote
              problem={problem}
              note={noteOf(problem.kind, money)}
              params={params}
              onOwnFee={helpsOwnFee(problem.kind, state) ? () => void checkout.payOwnFee() : null}
            />
          )}
          {connection !== 'live' && (
            <p class="muted small connection">
              <Words text={t(`connection.${connection}`)} />
            </p>
          )}
          <Paying
            checkout={checkout}
            state={state}
            intent={intent}
            terms={terms}
            status={status}
            name={name}
            page={page}
            isEmbedded={window.top !== window.self}
            clock={clock}
          />
          <Ends
            merchant={merchant}
            name={name}
            returnUrl={link.returnUrl}
            offersUrl={isOver(intent.state) ? null : link.offersUrl}
            isDone={status.tone === 'good'}
          />
        </section>
      </main>
    </>
  );
}

/** After a payment no other offer should be chosen. */
const isOver = (state: Intent['state']): boolean => ['pending', 'confirmed', 'finalized'].includes(state);

function useClock(client: Client): () => number {
  const [clock] = useState(() => () => client.now());
  return clock;
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
