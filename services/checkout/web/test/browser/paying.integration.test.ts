import { describe, expect, it } from '@jest/globals';
import type { Address } from '@pf/domain';
import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import { until } from '@pf/testing';
import type { Page } from 'playwright-core';
import { barriers } from '../../../../../infra/e2e/test/dashboard/browser.ts';
import { payer as solanaPayer } from '../../../../../packages/chains/test/solana/payments.ts';
import { ACCOUNT, EvmWallet, HASH, type Opened, solanaWallet, status } from './opened.ts';
import { openedByTests } from './opened-by-tests.ts';
import { TERMS } from './stand-in.ts';
import { declined, installEvm } from './wallets.ts';

const visitWith = openedByTests();
const choose = (page: Page, wallet = 'Amber'): Promise<void> => page.getByRole('button', { name: wallet }).click();
const pay = (page: Page): Promise<void> => page.getByRole('button', { name: /^Pay 12/ }).click();
const confirmed = { state: 'confirmed', confirmedAt: '2026-11-22T12:00:00.000Z' } as const;

describe('paying in the browser', () => {
  it('lets a wallet send the call alone, submits the hash and shows the receipt', async () => {
    const wallet = new EvmWallet('base');
    const { page, standIn } = await visitWith({ family: 'base', install: wallet.install });
    expect(page.url()).toBe(`${standIn.origin}/pay/${standIn.intent.id}`);
    await choose(page);
    await pay(page);
    await status(page, 'Sent').waitFor();
    const { tokenAddress } = TERMS.base;
    expect(wallet.of('eth_sendTransaction')).toEqual([
      [{ from: ACCOUNT, to: tokenAddress, value: '0x0', data: expect.stringMatching(/^0xa9059cbb[\da-f]{192}$/) }],
    ]);
    expect(standIn.submitted).toEqual([{ signedTransaction: HASH, fulfiller: ACCOUNT }]);
    standIn.become(confirmed);
    await status(page, 'Paid').waitFor();
    await page.getByRole('heading', { name: 'Receipt' }).waitFor();
    expect(await page.title()).toMatch(/^Paid · /);
    expect(await page.locator('.receipt').textContent()).toContain(HASH);
  });

  it('switches the wallet to the network, and adds the network to a wallet that lacks it', async () => {
    const wallet: EvmWallet = new EvmWallet('base', {
      wallet_switchEthereumChain: () => {
        throw Object.assign(new Error('Unrecognized chain'), { code: 4902 });
      },
      wallet_addEthereumChain: () => {
        wallet.chainId = '0x14a34';
        return null;
      },
    });
    wallet.chainId = '0x1';
    const { page } = await visitWith({ family: 'base', install: wallet.install });
    await choose(page);
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(wallet.of('wallet_addEthereumChain')).toMatchObject([[{ chainId: '0x14a34', chainName: 'Base Sepolia' }]]);
  });

  it('says that nothing was sent when the person declines, and pays at the second try', async () => {
    let tries = 0;
    const wallet = new EvmWallet('base', {
      eth_sendTransaction: () => {
        tries += 1;
        if (tries === 1) throw declined;
        return HASH;
      },
    });
    const { page, standIn } = await visitWith({ family: 'base', install: wallet.install });
    await choose(page);
    await pay(page);
    expect(await page.getByRole('alert').textContent()).toContain('Nothing was sent from this page');
    expect(standIn.submitted).toEqual([]);
    await pay(page);
    await status(page, 'Sent').waitFor();
  });

  it('names the account that has to pay where the wallet has another', async () => {
    const fulfiller = '0x2222222222222222222222222222222222222222';
    const wallet = new EvmWallet('base');
    const changes = { direction: 'send', fulfiller } as const;
    const { page } = await visitWith({ family: 'base', changes, install: wallet.install });
    await choose(page);
    expect(await page.getByRole('alert').textContent()).toContain(fulfiller);
    wallet.accounts = [ACCOUNT, fulfiller];
    await choose(page);
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(wallet.of('eth_sendTransaction')).toMatchObject([[{ from: fulfiller }]]);
  });

  it('does not let the recipient pay itself', async () => {
    const wallet = new EvmWallet('base');
    wallet.accounts = [TERMS.base.requestor];
    const { page } = await visitWith({ family: 'base', install: wallet.install });
    await choose(page);
    expect(await page.getByRole('alert').textContent()).toContain('own wallet');
  });

  it('builds again when another account is chosen in the wallet', async () => {
    const wallet = new EvmWallet('base');
    const { page } = await visitWith({ family: 'base', install: wallet.install });
    await choose(page);
    await page.getByRole('button', { name: /^Pay 12/ }).waitFor();
    wallet.accounts = ['0x3333333333333333333333333333333333333333'];
    await page.evaluate('walletEmit()');
    await page.locator('.paying .groups .hidden', { hasText: '0x3333' }).waitFor({ state: 'attached' });
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(wallet.of('eth_sendTransaction')).toMatchObject([[{ from: wallet.accounts[0] }]]);
  });

  it('submits after a reload what the wallet had sent, and does not ask the wallet again', async () => {
    const wallet = new EvmWallet('base');
    const { page, standIn } = await visitWith({ family: 'base', install: wallet.install });
    standIn.refuse('submit', { status: 503, code: 'transaction.not_visible', details: { retry_after: 60 } });
    await choose(page);
    await pay(page);
    await status(page, 'Your wallet has sent it').waitFor();
    expect(standIn.submitted).toEqual([]);
    await page.reload();
    await status(page, 'Sent').waitFor();
    expect(standIn.submitted).toEqual([{ signedTransaction: HASH, fulfiller: ACCOUNT }]);
    expect(wallet.of('eth_sendTransaction')).toHaveLength(1);
    standIn.become(confirmed);
    await status(page, 'Paid').waitFor();
    standIn.become({ state: 'finalized' });
    await page.waitForFunction('localStorage.length === 0');
  });

  it('waits as long as it is told until the network shows the transaction', async () => {
    const wallet = new EvmWallet('base');
    const { page, standIn } = await visitWith({ family: 'base', install: wallet.install });
    for (let times = 0; times < 2; times += 1)
      standIn.refuse('submit', { status: 503, code: 'transaction.not_visible', details: { retry_after: 1 } });
    await choose(page);
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(standIn.submitted).toHaveLength(1);
  });

  it.each([
    ['recipient', { requestor: '0x6666666666666666666666666666666666666666' as Address }, 'another recipient'],
    ['amount', { amount: 99_000_000n }, 'another amount'],
    ['reference', { reference: `0x${'77'.repeat(32)}` as never }, 'another payment’s reference'],
    ['token', { tokenAddress: '0x808456652fdb597867f38412077A9182bf77359F' as never }, 'another token'],
  ])('stops before the wallet when what was built has another %s', async (_, built, words) => {
    const wallet = new EvmWallet('base');
    const prepare = (standIn: Opened['standIn']): void => void (standIn.built = built);
    const { page, standIn } = await visitWith({ family: 'base', install: wallet.install, prepare });
    await choose(page);
    await status(page, 'Stopped for your safety').waitFor();
    expect(await page.getByText(words, { exact: true }).count()).toBe(1);
    expect([wallet.of('eth_sendTransaction'), standIn.submitted]).toEqual([[], []]);
  });

  it('stops when the response to the build changes what is shown', async () => {
    const wallet = new EvmWallet('base');
    const { page, standIn } = await visitWith({ family: 'base', install: wallet.install });
    await page.getByRole('button', { name: 'Amber' }).waitFor();
    standIn.intent = {
      ...standIn.intent,
      amount: '1.00',
      amountBaseUnits: '1000000',
      updatedAt: new Date(Date.now() + 60_000).toISOString(),
    };
    await choose(page);
    await status(page, 'Stopped for your safety').waitFor();
    expect(wallet.of('eth_sendTransaction')).toEqual([]);
  });

  it('pays from a smart wallet by its calls', async () => {
    let polls = 0;
    const wallet = new EvmWallet('base', {
      wallet_getCapabilities: () => ({ '0x14a34': { atomic: { status: 'supported' } } }),
      wallet_sendCalls: () => ({ id: '0x01' }),
      wallet_getCallsStatus: () => {
        polls += 1;
        return polls === 1 ? { status: 100 } : { status: 200, receipts: [{ transactionHash: HASH }] };
      },
    });
    const { page, standIn } = await visitWith({ family: 'base', install: wallet.install });
    await choose(page);
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(wallet.of('wallet_sendCalls')).toMatchObject([
      [{ version: '2.0.0', chainId: '0x14a34', from: ACCOUNT, calls: [{ to: TERMS.base.tokenAddress, value: '0x0' }] }],
    ]);
    expect(standIn.submitted).toEqual([{ signedTransaction: HASH, fulfiller: ACCOUNT }]);
    expect(wallet.of('eth_sendTransaction')).toEqual([]);
  });

  it("lets Tempo's wallet sign only, with the fields of the build", async () => {
    const signed = `0x76${'ef'.repeat(80)}`;
    const wallet = new EvmWallet('tempo', { eth_signTransaction: () => signed });
    const install = (page: Page) => installEvm(page, wallet.answer, { name: 'Tempo', rdns: 'xyz.tempo' });
    const { page, standIn } = await visitWith({ family: 'tempo', install });
    await page.locator('.wallets').getByRole('button', { name: 'Tempo' }).click();
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(wallet.of('eth_signTransaction')).toMatchObject([
      [{ type: '0x76', chainId: '0xa5bf', calls: [{ to: TERMS.tempo.tokenAddress }], validBefore: '0x6b49d200' }],
    ]);
    expect(standIn.submitted).toEqual([{ signedTransaction: signed, fulfiller: ACCOUNT }]);
  });

  it('lets any other wallet on Tempo send', async () => {
    const wallet = new EvmWallet('tempo');
    const { page, standIn } = await visitWith({ family: 'tempo', install: wallet.install });
    await choose(page);
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(wallet.of('eth_signTransaction')).toEqual([]);
    expect(wallet.of('eth_sendTransaction')).toMatchObject([[{ data: expect.stringMatching(/^0x95777d59/) }]]);
    expect(standIn.submitted).toHaveLength(1);
  });

  it.each([
    ['signs', 'signTransaction', {}],
    ['signs and adds guards', 'signTransaction', { addsGuards: true }],
    ['signs and sends', 'signAndSendTransaction', {}],
    ['sends with guards', 'signAndSendTransaction', { addsGuards: true }],
  ] as const)('pays on Solana with a wallet that %s', async (_, feature, options) => {
    const { page, standIn } = await visitWith({ family: 'solana', install: solanaWallet(feature, options) });
    await choose(page, 'Violet');
    await pay(page);
    await status(page, 'Sent').waitFor();
    const [submitted] = standIn.submitted;
    expect(submitted?.fulfiller).toBe(solanaPayer.publicKey.toBase58());
    // What a wallet has sent and changed is known by its signature alone.
    const isKnown = feature === 'signTransaction' || !('addsGuards' in options);
    expect(submitted?.signedTransaction).toMatch(isKnown ? /^[\w+/]{200,}=*$/ : /^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
  });

  it('is told by the service that what a wallet on Solana has sent can no longer land', async () => {
    const { page, standIn } = await visitWith({ family: 'solana', install: solanaWallet('signAndSendTransaction') });
    await choose(page, 'Violet');
    await pay(page);
    await status(page, 'Sent').waitFor();
    const { signatures } = getTransactionDecoder().decode(
      Buffer.from(standIn.submitted[0]?.signedTransaction ?? '', 'base64'),
    );
    expect(signatures).toEqual({ [solanaPayer.publicKey.toBase58()]: expect.any(Uint8Array) });
    standIn.become({ state: 'created', retryRequired: true, txSignature: null }, 'intent.retry_required');
    await status(page, 'Please sign again').waitFor();
  });

  it('names the signature of what a wallet on Solana has sent where the service refuses the transaction', async () => {
    const { page, standIn } = await visitWith({
      family: 'solana',
      install: solanaWallet('signAndSendTransaction'),
      prepare: (prepared) =>
        prepared.refuse('submit', { status: 422, code: 'transaction.rejected', details: { reason: 'expired' } }),
    });
    await choose(page, 'Violet');
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(standIn.submitted).toMatchObject([{ signedTransaction: expect.stringMatching(/^[1-9A-Za-z]{80,90}$/) }]);
  });

  it('says what helps when the fee cannot be paid, and when the wallet is blocked', async () => {
    const wallet = new EvmWallet('base');
    const { page, standIn } = await visitWith({ family: 'base', install: wallet.install });
    const reason = 'the payer has 0.000001 ETH for fees and may need 0.00002 ETH';
    standIn.refuse('build', { status: 422, code: 'transaction.rejected', details: { reason } });
    await choose(page);
    const alert = page.getByRole('alert');
    expect(await alert.textContent()).toContain('not enough for the network fee');
    expect(await alert.textContent()).toContain(reason);
    standIn.refuse('submit', { status: 422, code: 'address.sanctions_match', param: 'fulfiller' });
    await choose(page);
    await pay(page);
    await page.getByRole('alert').filter({ hasText: 'cannot be used here' }).waitFor();
    expect(await alert.textContent()).toContain('Your wallet has sent a payment');
  });

  it('asks to sign again after a drop, and builds again', async () => {
    const wallet = new EvmWallet('base');
    const { page, standIn } = await visitWith({ family: 'base', install: wallet.install });
    await choose(page);
    await pay(page);
    await status(page, 'Sent').waitFor();
    standIn.become({ state: 'created', retryRequired: true, txSignature: null }, 'intent.retry_required');
    await status(page, 'Please sign again').waitFor();
    await choose(page);
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(standIn.submitted).toHaveLength(2);
  });

  it('builds again at the click where a third of the life of what was built is over', async () => {
    const wallet = new EvmWallet('base');
    const { page, standIn } = await visitWith({ family: 'base', install: wallet.install });
    // It was dying when it came.
    standIn.lifeMs = -60_000;
    await choose(page);
    await page.getByRole('button', { name: /^Pay 12/ }).waitFor();
    standIn.lifeMs = 3_600_000;
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(standIn.builds).toHaveLength(2);
    standIn.become({ state: 'created', retryRequired: true, txSignature: null }, 'intent.retry_required');
    await status(page, 'Please sign again').waitFor();
    await choose(page);
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(standIn.builds).toHaveLength(3);
  });

  it('can be done with the keyboard alone, and the focus stays where things happen', async () => {
    const wallet = new EvmWallet('base');
    const { page } = await visitWith({ family: 'base', install: wallet.install });
    const button = page.getByRole('button', { name: 'Amber' });
    await button.waitFor();
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Pay 12/ }).waitFor();
    expect(await page.evaluate('document.activeElement.className')).toBe('paying');
    for (let presses = 0; presses < 6; presses += 1) {
      await page.keyboard.press('Tab');
      if (/^Pay 12/.test(String(await page.evaluate('document.activeElement.textContent')))) break;
    }
    await page.keyboard.press('Enter');
    await status(page, 'Sent').waitFor();
  });
});

describe('a wallet that was asked to pay', () => {
  const startAgain = (page: Page) => page.getByRole('button', { name: 'Start again' });
  const saysNothingSent = async (page: Page): Promise<boolean> =>
    /nothing (was|has been)|no money|try again/i.test(await page.locator('main').innerText());
  const smart = (callsStatus: () => unknown): EvmWallet =>
    new EvmWallet('base', {
      wallet_getCapabilities: () => ({ '0x14a34': { atomic: { status: 'supported' } } }),
      wallet_sendCalls: () => ({ id: '0x01' }),
      wallet_getCallsStatus: callsStatus,
    });
  const asked = async (wallet: EvmWallet, prepare?: (standIn: Opened['standIn']) => void): Promise<Opened> => {
    const opened = await visitWith({ family: 'base', install: wallet.install, ...(prepare && { prepare }) });
    await choose(opened.page);
    await pay(opened.page);
    return opened;
  };

  it.each([
    ['a node that rejects', { code: -32603, message: 'transaction rejected: already known' }],
    ['a request that is cancelled', { message: 'Request was cancelled by timeout' }],
    ['no hash', null],
  ])('may have sent it when it answers with %s, also after a reload and in another tab', async (_, error) => {
    const wallet = new EvmWallet('base', {
      eth_sendTransaction: () => {
        if (error !== null) throw Object.assign(new Error(error.message), error);
        return null;
      },
    });
    const { page, standIn } = await asked(wallet);
    await status(page, 'Your wallet may have sent it').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('Amber reported an error');
    expect(await saysNothingSent(page)).toBe(false);
    expect(await barriers(page)).toEqual([]);
    const tab = await page.context().newPage();
    await tab.goto(standIn.link());
    await status(tab, 'Your wallet may have sent it').waitFor();
    await page.reload();
    await status(page, 'Your wallet may have sent it').waitFor();
    expect(await page.getByRole('button', { name: 'Amber' }).count()).toBe(0);
    await startAgain(page).click();
    await status(page, 'You can pay again').waitFor();
    await page.getByRole('button', { name: 'Amber' }).waitFor();
    standIn.become({ ...confirmed, txSignature: HASH });
    await status(page, 'Paid').waitFor();
    await status(tab, 'Paid').waitFor();
  });

  it('is not asked again when what it sent differs', async () => {
    const { page } = await asked(new EvmWallet('base'), (standIn) =>
      standIn.refuse('submit', { status: 422, code: 'transaction.mismatch' }),
    );
    await status(page, 'Your wallet has sent something else').waitFor();
    expect(await saysNothingSent(page)).toBe(false);
    expect(await page.getByRole('alert').textContent()).toContain('Your money may have moved');
  });

  it('may have sent it when the time runs out, and the page goes on until it arrives', async () => {
    const { page, standIn } = await asked(new EvmWallet('base'), (prepared) => {
      prepared.refuse('submit', { status: 409, code: 'intent.expired' });
    });
    standIn.become({ state: 'expired' });
    await status(page, 'The time has run out, but your wallet was asked to pay').waitFor();
    expect(await saysNothingSent(page)).toBe(false);
    standIn.become({ ...confirmed, txSignature: HASH }, 'intent.late_payment', {
      txSignature: HASH,
      sender: ACCOUNT,
      amount: '12.345678',
      differs: [],
    });
    await status(page, 'Paid, a little late').waitFor();
  });

  it('is asked again after a reload for the calls that it had not sent', async () => {
    let answer: unknown = { status: 100 };
    const wallet = smart(() => answer);
    const { page, standIn } = await asked(wallet);
    await status(page, 'Your wallet has sent it').waitFor();
    await page.reload();
    await status(page, 'Your wallet has sent it').waitFor();
    expect(await page.getByRole('button', { name: 'Amber' }).count()).toBe(0);
    answer = { status: 200, receipts: [{ transactionHash: HASH }] };
    await status(page, 'Sent').waitFor();
    expect(standIn.submitted).toEqual([{ signedTransaction: HASH, fulfiller: ACCOUNT }]);
    expect(wallet.of('wallet_sendCalls')).toHaveLength(1);
  });

  it.each([
    ['gave up', 400, 'Your wallet may have sent it', 'Amber has given up on the payment'],
    ['failed on the network', 500, 'Your wallet may have sent it', 'Amber reports that the payment failed'],
    ['went through in part', 600, 'Your wallet says that only a part went through', null],
  ])('may have sent its calls when it says that they %s, also after a reload', async (_, code, title, note) => {
    // Where it has sent them before, it names a transaction: that is no proof of what it says.
    const { page, standIn } = await asked(smart(() => ({ status: code, receipts: [{ transactionHash: HASH }] })));
    for (const loads of [1, 2]) {
      await status(page, title).waitFor();
      if (note !== null) await page.getByRole('alert').filter({ hasText: note }).waitFor();
      expect(await saysNothingSent(page)).toBe(false);
      await startAgain(page).waitFor();
      expect(await page.getByRole('button', { name: 'Amber' }).count()).toBe(0);
      expect(await barriers(page)).toEqual([]);
      if (loads === 1) await page.reload();
    }
    expect(standIn.submitted).toEqual([]);
    standIn.become({ ...confirmed, txSignature: HASH });
    await status(page, 'Paid').waitFor();
  });

  it('is believed when it says after a reload that its calls are under way after all', async () => {
    let code = 400;
    const { page } = await asked(smart(() => ({ status: code })));
    await status(page, 'Your wallet may have sent it').waitFor();
    code = 100;
    await page.reload();
    await status(page, 'Your wallet has sent it').waitFor();
  });

  it('leaves the payment among several transactions to the chain', async () => {
    const receipts = [`0x${'01'.repeat(32)}`, HASH].map((transactionHash) => ({ transactionHash }));
    let polls = 0;
    const { page, standIn } = await asked(
      smart(() => {
        polls += 1;
        return { status: 200, receipts };
      }),
    );
    await status(page, 'Your wallet has sent it').waitFor();
    await until('the wallet to be asked again', async () => polls > 1);
    expect(standIn.submitted).toEqual([]);
    standIn.become({ ...confirmed, txSignature: HASH });
    await status(page, 'Paid').waitFor();
  });

  it('is still asked when the person goes back', async () => {
    const wallet = new EvmWallet('base', { eth_sendTransaction: () => new Promise(() => undefined) });
    const { page } = await asked(wallet);
    await page.getByRole('button', { name: 'Choose another way' }).click();
    await status(page, 'Your wallet was asked to pay').waitFor();
    expect(await page.getByRole('button', { name: 'Amber' }).count()).toBe(0);
    await startAgain(page).waitFor();
  });
});

describe('paying in the browser where the merchant pays the network fee', () => {
  const offered = (standIn: Opened['standIn']): void => void (standIn.sponsors = ['fee_payer']);
  const fee = (page: Page) => page.locator('.facts.boxed div', { hasText: 'Network fee' });
  const ownFee = (page: Page) => page.getByRole('button', { name: 'Pay the network fee myself' });
  const decoded = (text = '') => getTransactionDecoder().decode(Buffer.from(text, 'base64'));
  const signing = (prepare = offered) =>
    visitWith({ family: 'solana', install: solanaWallet('signTransaction'), prepare });

  it('says who pays it, and has a wallet sign only', async () => {
    const { page, standIn } = await signing();
    await page.getByText("Nora's Bikes pays the network fee").waitFor();
    await choose(page, 'Violet');
    await fee(page).waitFor();
    expect(await fee(page).textContent()).toBe("Network feeNora's Bikes pays it");
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(standIn.builds).toEqual([true]);
    const [submitted] = standIn.submitted;
    const { messageBytes, signatures } = decoded(submitted?.signedTransaction);
    const [feePayer = '', payer] = getCompiledTransactionMessageDecoder().decode(messageBytes).staticAccounts;
    expect(payer).toBe(solanaPayer.publicKey.toBase58());
    expect(signatures).toEqual({ [feePayer]: null, [String(payer)]: expect.any(Uint8Array) });
  });

  it('has a wallet pay the fee that sends by itself', async () => {
    const { page, standIn } = await visitWith({
      family: 'solana',
      install: solanaWallet('signAndSendTransaction'),
      prepare: offered,
    });
    await choose(page, 'Violet');
    await fee(page).filter({ hasText: 'SOL' }).waitFor();
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(standIn.builds).toEqual([false]);
  });

  it('lets the payer pay it when the sponsor names no fee payer', async () => {
    const { page, standIn } = await signing();
    standIn.refuse('build', { status: 422, code: 'sponsor.refused' });
    await choose(page, 'Violet');
    const alert = page.getByRole('alert');
    expect(await alert.textContent()).toContain("Nora's Bikes cannot pay the network fee for this");
    expect(await barriers(page)).toEqual([]);
    await ownFee(page).click();
    await fee(page).filter({ hasText: 'SOL' }).waitFor();
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(standIn.builds).toEqual([true, false]);
  });

  it('lets the payer pay it with a wallet that changes what a sponsor would sign', async () => {
    const { page, standIn } = await signing();
    standIn.refuse('submit', { status: 422, code: 'transaction.mismatch' });
    await choose(page, 'Violet');
    await pay(page);
    await page.getByRole('alert').filter({ hasText: 'The wallet signed something else' }).waitFor();
    await ownFee(page).click();
    await fee(page).filter({ hasText: 'SOL' }).waitFor();
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(standIn.builds).toEqual([true, false]);
  });

  it.each([
    ['refuses', { status: 422, code: 'sponsor.refused' }],
    ['does not answer', { status: 503, code: 'sponsor.unavailable', details: { retry_after: 60 } }],
  ])(
    'has the payer sign a second time only when the first can no longer land: a sponsor that %s',
    async (_, refusal) => {
      const { page, standIn } = await signing();
      standIn.refuse('submit', refusal);
      await choose(page, 'Violet');
      standIn.isSponsoredAlive = true;
      await pay(page);
      await ownFee(page).click();
      await status(page, 'A moment before you pay the fee yourself').waitFor();
      expect(await barriers(page)).toEqual([]);
      expect(standIn.submitted).toEqual([]);
      standIn.isSponsoredAlive = false;
      await fee(page).filter({ hasText: 'SOL' }).waitFor();
      await pay(page);
      await status(page, 'Sent').waitFor();
      const [submitted] = standIn.submitted;
      expect(standIn.submitted).toHaveLength(1);
      expect(Object.keys(decoded(submitted?.signedTransaction).signatures)).toEqual([solanaPayer.publicKey.toBase58()]);
    },
  );

  it('is paid after all when the sponsor sends what it has refused', async () => {
    const { page, standIn } = await signing();
    standIn.refuse('submit', { status: 422, code: 'sponsor.refused' });
    await choose(page, 'Violet');
    standIn.isSponsoredAlive = true;
    await pay(page);
    await ownFee(page).click();
    await status(page, 'A moment before you pay the fee yourself').waitFor();
    standIn.become({ ...confirmed, fulfiller: solanaPayer.publicKey.toBase58(), txSignature: HASH });
    await status(page, 'Paid').waitFor();
    expect(await page.getByRole('button', { name: /^Pay/ }).count()).toBe(0);
  });

  it('is not paid again when what the sponsor has sent lands at the last moment', async () => {
    const { page, standIn } = await signing();
    standIn.refuse('submit', { status: 503, code: 'sponsor.unavailable' });
    await choose(page, 'Violet');
    standIn.isSponsoredAlive = true;
    await pay(page);
    await ownFee(page).click();
    await status(page, 'A moment before you pay the fee yourself').waitFor();
    const before = standIn.builds.length;
    standIn.isSponsoredAlive = false;
    await until('another transaction to be built', async () => standIn.builds.length > before);
    standIn.become({ ...confirmed, fulfiller: solanaPayer.publicKey.toBase58(), txSignature: HASH });
    await status(page, 'Paid').waitFor();
    expect(standIn.submitted).toEqual([]);
  });

  it("lets Tempo's wallet sign for a fee payer", async () => {
    const signed = `0x78${'ef'.repeat(80)}`;
    const wallet = new EvmWallet('tempo', { eth_signTransaction: () => signed });
    const install = (page: Page) => installEvm(page, wallet.answer, { name: 'Tempo', rdns: 'xyz.tempo' });
    const { page, standIn } = await visitWith({ family: 'tempo', install, prepare: offered });
    await page.locator('.wallets').getByRole('button', { name: 'Tempo' }).click();
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(wallet.of('eth_signTransaction')).toMatchObject([[{ type: '0x76', feePayer: true }]]);
    expect(wallet.of('eth_signTransaction')).not.toMatchObject([[{ feeToken: expect.anything() }]]);
    expect(standIn.submitted).toEqual([{ signedTransaction: signed, fulfiller: ACCOUNT }]);
  });

  it('does not have a wallet of Tempo send what it cannot sign for a fee payer', async () => {
    const wallet = new EvmWallet('tempo');
    const install = (page: Page) => installEvm(page, wallet.answer, { name: 'Tempo', rdns: 'xyz.tempo' });
    const { page, standIn } = await visitWith({ family: 'tempo', install, prepare: offered });
    await page.locator('.wallets').getByRole('button', { name: 'Tempo' }).click();
    await pay(page);
    expect(await page.getByRole('alert').textContent()).toContain('Tempo cannot have its fee paid by another');
    expect(wallet.of('eth_sendTransaction')).toEqual([]);
    await ownFee(page).click();
    await fee(page).filter({ hasText: 'USD' }).waitFor();
    await pay(page);
    await status(page, 'Sent').waitFor();
    expect(standIn.submitted).toEqual([{ signedTransaction: HASH, fulfiller: ACCOUNT }]);
  });

  describe('of a smart wallet', () => {
    const URL_OF_PAYMASTER = 'https://pay.example/p/pi_5mUj8xNgYq3vWJ2hTfKd7_pm_8sdf7Yhj3kLmN2pQ9rStUv';
    const paidFor = (standIn: Opened['standIn']): void =>
      void Object.assign(standIn, { sponsors: ['paymaster'], paymasterUrl: URL_OF_PAYMASTER });
    const smart = (paymasterService: boolean, send: () => unknown = () => ({ id: '0x01' })) =>
      new EvmWallet('base', {
        wallet_getCapabilities: () => ({
          '0x14a34': { atomic: { status: 'supported' }, paymasterService: { supported: paymasterService } },
        }),
        wallet_sendCalls: send,
        wallet_getCallsStatus: () => ({ status: 200, receipts: [{ transactionHash: HASH }] }),
      });
    const visit = (wallet: EvmWallet) => visitWith({ family: 'base', install: wallet.install, prepare: paidFor });
    const withPaymaster = { capabilities: { paymasterService: { url: URL_OF_PAYMASTER } } };

    it('says who pays it, and gives the wallet the paymaster', async () => {
      const wallet = smart(true);
      const { page, standIn } = await visit(wallet);
      await choose(page);
      await fee(page).waitFor();
      expect(await fee(page).textContent()).toBe("Network feeNora's Bikes pays it");
      await pay(page);
      await status(page, 'Sent').waitFor();
      expect(standIn.builds).toEqual([true]);
      expect(wallet.of('wallet_sendCalls')).toMatchObject([[withPaymaster]]);
    });

    it('is paid by the payer where the wallet asks no paymaster', async () => {
      const wallet = smart(false);
      const { page, standIn } = await visit(wallet);
      await choose(page);
      await fee(page).filter({ hasText: 'ETH' }).waitFor();
      await pay(page);
      await status(page, 'Sent').waitFor();
      expect(standIn.builds).toEqual([false]);
      expect(wallet.of('wallet_sendCalls')).toEqual([
        [expect.not.objectContaining({ capabilities: expect.anything() })],
      ]);
    });

    it('can be paid by the payer when the wallet gets no promise', async () => {
      let sends = 0;
      const wallet = smart(true, () => {
        sends += 1;
        if (sends === 1) throw Object.assign(new Error('AA33 reverted'), { code: -32000 });
        return { id: '0x01' };
      });
      const { page, standIn } = await visit(wallet);
      await choose(page);
      await pay(page);
      const alert = page.getByRole('alert');
      expect(await alert.textContent()).toContain("Nora's Bikes cannot pay the network fee for this");
      await ownFee(page).click();
      await fee(page).filter({ hasText: 'ETH' }).waitFor();
      await pay(page);
      await status(page, 'Sent').waitFor();
      expect(standIn.builds).toEqual([true, false]);
      expect(wallet.of('wallet_sendCalls')).toMatchObject([[withPaymaster], [{ from: ACCOUNT }]]);
    });
  });
});
