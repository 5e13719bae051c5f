import { useEffect, useState } from 'preact/hooks';
import type { ComponentType } from 'preact';
import type { Network } from '@pf/chains/networks';
import type { Intent } from '../api/schemas.ts';
import type { Code } from '../pay/codes.ts';
import { inAppLinks, isHandheld } from '../wallets/in-app.ts';
import type { Wallet } from '../wallets/wallet.ts';
import { useTranslator } from './context.ts';
import { useCopy } from './copy.tsx';
import { useWallets } from './hooks.ts';
import { Icon, type IconName } from './icon.tsx';
import { Play } from './play.tsx';
import { Transfer } from './transfer.tsx';
import { Words } from './words.tsx';

interface Props {
  readonly intent: Intent;
  readonly network: Network;
  readonly codes: readonly Code[];
  /** Those of a plain transfer; null where none pays the intent. */
  readonly transferCodes: readonly Code[] | null;
  readonly merchant: string;
  /** The whole link, secret included. */
  readonly page: string;
  readonly onChoose: (wallet: Wallet) => void;
  /** Who offers to pay the network fee. */
  readonly sponsor: string | null;
}

/** How a person can pay: a wallet of this browser, one on the phone, a plain transfer, a code or a sound. */
export function Ways({ intent, network, codes, transferCodes, merchant, page, onChoose, sponsor }: Props) {
  const t = useTranslator();
  const wallets = useWallets(network);
  const [isPhone] = useState(() => isHandheld());
  const isAlone = wallets.length === 0;
  // Wallets announce themselves within moments: what would jump away again is not shown before.
  const isSettled = useSettled();
  const opensOne = isAlone && isSettled && !isPhone;
  return (
    <div class="ways">
      <h2>{t('ways.title')}</h2>
      {!isAlone && (
        <ul class="wallets" aria-label={t('ways.wallets')}>
          {wallets.map((wallet) => (
            <li key={wallet.id}>
              <button type="button" class="way" onClick={() => onChoose(wallet)}>
                {wallet.icon === null ? (
                  <Icon name="wallet" />
                ) : (
                  <img src={wallet.icon} alt="" width="32" height="32" />
                )}
                <bdi class="grow" translate={false}>
                  {wallet.name}
                </bdi>
                <Icon name="chevron" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {!isAlone && sponsor !== null && <p class="muted small">{t('ways.sponsored', { merchant: sponsor })}</p>}
      {opensOne && (
        <div class="empty">
          <p>{t('ways.none')}</p>
          <p class="muted small">{t('ways.none_hint')}</p>
        </div>
      )}
      {isPhone && isAlone && (
        <ul class="wallets" aria-label={t('ways.apps')}>
          {inAppLinks(network.family, page).map(({ name, href }) => (
            <li key={name}>
              <a class="way" href={href} rel="noreferrer">
                <Icon name="phone" />
                <bdi class="grow" translate={false}>
                  {name}
                </bdi>
                <Icon name="link" />
              </a>
            </li>
          ))}
        </ul>
      )}
      {/* Browsers of messengers and mails have no wallet, and the address alone opens nothing in another browser. */}
      {isAlone && isSettled && <CopyLink page={page} />}
      {transferCodes !== null && (
        <Disclosure name={t('ways.transfer')} icon="send" isOpenAtFirst={opensOne}>
          <Transfer intent={intent} network={network} merchant={merchant}>
            <LazyQr codes={transferCodes} />
          </Transfer>
        </Disclosure>
      )}
      <Disclosure name={t('ways.qr')} icon="qr" isOpenAtFirst={opensOne && transferCodes === null}>
        <LazyQr codes={codes} />
      </Disclosure>
      <Play intent={intent} />
    </div>
  );
}

/** The link with its secret, for the browser or the app in which the wallet is. */
function CopyLink({ page }: { readonly page: string }) {
  const t = useTranslator();
  const { isCopied, copy } = useCopy(page);
  return (
    <div>
      <button type="button" class="way" onClick={copy}>
        <Icon name={isCopied ? 'check' : 'copy'} />
        <span class="grow">{t('ways.copy_link')}</span>
      </button>
      <p class="muted small" role="status">
        <Words text={isCopied ? t('copy.done') : ''} />
      </p>
    </div>
  );
}

const SETTLED_MS = 600;
function useSettled(): boolean {
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), SETTLED_MS);
    return () => clearTimeout(timer);
  }, []);
  return isSettled;
}

interface DisclosureProps {
  readonly name: string;
  readonly icon: IconName;
  readonly isOpenAtFirst: boolean;
  readonly children: preact.ComponentChildren;
}

function Disclosure({ name, icon, isOpenAtFirst, children }: DisclosureProps) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOpen = chosen ?? isOpenAtFirst;
  return (
    <div class={`disclosure ${isOpen ? 'open' : ''}`}>
      <button
        type="button"
        class="way"
        aria-expanded={isOpen}
        aria-controls={`disclosed-${icon}`}
        onClick={() => setChosen(!isOpen)}
      >
        <Icon name={icon} />
        <span class="grow">{name}</span>
        <Icon name="down" />
      </button>
      <div id={`disclosed-${icon}`} hidden={!isOpen}>
        {isOpen && children}
      </div>
    </div>
  );
}

/** The drawing of codes is loaded when a code is wanted. */
function LazyQr({ codes }: { readonly codes: readonly Code[] }) {
  const [Qr, setQr] = useState<ComponentType<{ readonly codes: readonly Code[] }> | null>(null);
  useEffect(() => {
    import('./qr.tsx').then(
      (loaded) => setQr(() => loaded.default),
      // Offline: the wallets of this browser may still work.
      () => undefined,
    );
  }, []);
  return Qr === null ? <div class="qr-place" /> : <Qr codes={codes} />;
}
