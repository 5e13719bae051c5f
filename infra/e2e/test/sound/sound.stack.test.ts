import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { decode, encode, type Recording, toWav } from '@pf/client/sound/node';
import type { Reference } from '@pf/domain';
import { apiClient, chainOf, readStack, until } from '@pf/testing';
import { newWallet, walletOn } from '@pf/testing/wallets';
import { build } from 'esbuild';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { soundScript } from '../../../../packages/client/scripts/sound-script.ts';
import { intentOf, joined, noisy, RATE, reverberant } from '../../../../packages/client/test/sound/channel.ts';
import { openBrowser, signIn, visit } from '../dashboard/browser.ts';

const stack = readStack();
const api = apiClient(stack.baseUrl, stack.apiKeys.test);

const chain = chainOf(stack, 'base');
const newPayment = (on = chain) => ({
  chain: on.caip2,
  token: 'USDC',
  amount: '1',
  requestor: newWallet(on).address,
});

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
const SCRIPT_POLICY = "default-src 'none'; script-src 'self' 'unsafe-eval'";

/** A page that shows what it hears, as a payer's app would. */
const PAGE = `
  import { announce, listen } from '@pf/client/sound';
  addEventListener('securitypolicyviolation', (event) => (document.title = event.violatedDirective));
  window.heard = [];
  window.hear = async (options) => {
    try {
      for await (const one of listen(options)) window.heard.push(one);
      return 'ended';
    } catch (error) { return error.code ?? String(error); }
  };
  window.say = async (intent, options) => {
    try { return await announce(intent, options); } catch (error) { return error.code ?? String(error); }
  };
`;

/** Keeps what a page plays. */
const RECORDER = `
  window.played = [];
  const start = AudioBufferSourceNode.prototype.start;
  AudioBufferSourceNode.prototype.start = function () {
    window.played.push({ sampleRate: this.buffer.sampleRate, samples: [...this.buffer.getChannelData(0)] });
    start.call(this);
  };`;
interface Played {
  readonly sampleRate: number;
  readonly samples: readonly number[];
}
const heardIn = async (page: Page) => {
  const [{ samples, sampleRate } = { samples: [], sampleRate: 0 }] =
    await page.evaluate<readonly Played[]>('window.played');
  return await decode({ samples: Float32Array.from(samples), sampleRate });
};

/**
 * The page and the script, each with its own policy; `/bare.js` is the script with the page's, and `/refused` the page
 * that may not use the microphone.
 */
async function serve(): Promise<{ readonly server: Server; readonly port: number }> {
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['source'],
  });
  const [page, script] = [outputFiles[0]?.text ?? '', await soundScript()];
  const html = '<!doctype html><title>Sound</title><script type="module" src="/page.js"></script>';
  const files: Readonly<Record<string, readonly [type: string, policy: string, body: string]>> = {
    '/': ['text/html', PAGE_POLICY, html],
    '/refused': ['text/html', PAGE_POLICY, html],
    '/page.js': ['text/javascript', PAGE_POLICY, page],
    '/pf-sound.js': ['text/javascript', SCRIPT_POLICY, script],
    '/bare.js': ['text/javascript', PAGE_POLICY, script],
  };
  const server = createServer((request, response) => {
    const [type, policy, body] = files[request.url ?? ''] ?? ['text/plain', PAGE_POLICY, null];
    response.writeHead(body === null ? 404 : 200, {
      'content-type': type,
      'content-security-policy': policy,
      ...(request.url === '/refused' && { 'permissions-policy': 'microphone=()' }),
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

describe('sound in Chromium', () => {
  let folder: string;
  let served: Awaited<ReturnType<typeof serve>>;
  let browser: Browser | null = null;
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'pf-sound-'));
    served = await serve();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser?.close();
    served.server.close();
    await rm(folder, { recursive: true });
  });

  /** A browser whose microphone hears a recording, over and over. */
  async function withMicrophone(recording: Recording): Promise<void> {
    await browser?.close();
    const file = path.join(folder, `${recording.sampleRate}.wav`);
    await writeFile(file, toWav(recording));
    browser = await openBrowser([
      '--use-fake-device-for-media-stream',
      // The person says yes.
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${file}`,
      '--autoplay-policy=no-user-gesture-required',
      `--host-resolver-rules=MAP pf.test 127.0.0.1`,
    ]);
  }
  function openedBrowser(): Browser {
    if (browser === null) throw new Error('there is no browser');
    return browser;
  }
  async function open({
    host = '127.0.0.1',
    at = '/',
    userAgent,
    before,
  }: {
    readonly host?: string;
    readonly at?: string;
    readonly userAgent?: string;
    readonly before?: string;
  } = {}): Promise<Page> {
    const context = await openedBrowser().newContext({
      permissions: ['microphone'],
      ...(userAgent === undefined ? {} : { userAgent }),
    });
    contexts.push(context);
    const page = await context.newPage();
    if (before !== undefined) await page.addInitScript(before);
    await page.goto(`http://${host}:${served.port}${at}`);
    await until('the script of the page', () => page.evaluate<boolean>('window.hear !== undefined'));
    return page;
  }
  const heardBy = async (page: Page): Promise<readonly { id: string; livemode: boolean; count: number }[]> =>
    await page.evaluate('window.heard');

  it('hears an intent that is announced, under a strict policy, and reports it as detected', async () => {
    const { intent } = (await api.create(newPayment())).body;
    const others = intentOf(1, true);
    const [sound, echoed] = await Promise.all([encode(intent), encode(others, { pace: 'normal' })]);
    await withMicrophone({
      samples: joined(noisy(sound.samples, -3, 1), noisy(reverberant(echoed.samples, 0.4, 0.7, 1), 10, 1)),
      sampleRate: RATE,
    });
    const page = await open();
    const ended = page.evaluate(
      `window.stop = new AbortController(); window.hear({ script: '/pf-sound.js', signal: window.stop.signal })`,
    );
    const heard = await until(
      'both to be heard',
      async () => {
        const now = await heardBy(page);
        return new Set(now.map(({ id }) => id)).size === 2 && now;
      },
      60_000,
    );
    expect(heard).toContainEqual({ id: intent.id, livemode: false, count: 1 });
    expect(heard).toContainEqual({ ...others, count: 1 });
    await page.evaluate('window.stop.abort()');
    expect(await ended).toBe('ended');
    expect(await page.title()).toBe('Sound');

    // What a payer's app does with an id of its mode.
    const { id } = heard.find(({ livemode }) => !livemode) ?? { id: '' };
    expect((await api.detected(id)).body.intent.detectedAt).not.toBeNull();
  });

  it('hears a microphone at 44.1 kHz', async () => {
    const { samples, sampleRate } = await encode(intentOf(3), { sampleRate: 44_100 });
    await withMicrophone({ samples: joined(new Float32Array(30_000), samples, new Float32Array(30_000)), sampleRate });
    const page = await open();
    void page.evaluate(`void window.hear({ script: '/pf-sound.js' })`);
    await until('it to be heard', async () => (await heardBy(page)).length > 0, 60_000);
    expect((await heardBy(page))[0]).toEqual({ ...intentOf(3), count: 1 });
    expect(await page.title()).toBe('Sound');
  });

  it('announces an intent until it is aborted: two fast sounds, then normal ones', async () => {
    const page = await open({ before: RECORDER });
    const played = page.evaluate(`
      window.stop = new AbortController();
      window.say(${JSON.stringify(intentOf(4, true))}, {
        script: '/pf-sound.js', signal: window.stop.signal, onPlay: ({ count }) => count === 3 && window.stop.abort(),
      })`);
    expect(await played).toBe(3);
    const sounds = await page.evaluate<readonly Played[]>('window.played');
    expect(sounds.map(({ samples, sampleRate }) => (samples.length / sampleRate).toFixed(1))).toEqual([
      '1.8',
      '1.8',
      '2.4',
    ]);
    for (const { samples, sampleRate } of sounds)
      expect(await decode({ samples: Float32Array.from(samples), sampleRate })).toEqual([
        { ...intentOf(4, true), count: 1 },
      ]);
    expect(await page.title()).toBe('Sound');
  });

  it('plays a payment from the dashboard until a phone has heard it', async () => {
    const { page, complaints } = await visit(openedBrowser());
    contexts.push(page.context());
    await page.addInitScript(RECORDER);
    await signIn(page, stack.dashboard);
    const { intent } = (await api.create(newPayment())).body;
    await page.goto(`${stack.dashboard.url}/accounts/${stack.accountId}/test/payments/${intent.id}`);
    await page.getByRole('button', { name: 'Play to a phone' }).click();
    await page.getByRole('button', { name: 'Stop playing' }).waitFor();
    // page.waitForFunction() evaluates a text in the page, which its policy refuses.
    await until('a sound', () => page.evaluate<boolean>('window.played.length > 0'));
    expect(await heardIn(page)).toEqual([{ id: intent.id, livemode: false, count: 1 }]);
    await api.detected(intent.id);
    await page.getByRole('button', { name: 'Play to a phone' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('hands a payment over from its page: a phone hears it, reports it as detected and pays', async () => {
    const { page, complaints } = await visit(openedBrowser());
    contexts.push(page.context());
    await page.addInitScript(RECORDER);
    // Where transactions have no nonces, other tests can use the same wallet.
    const solana = chainOf(stack, 'solana');
    const [phone] = solana.wallets;
    if (!phone) throw new Error('The stack has no wallet on Solana.');
    const { intent, paymentUrl } = (await api.create(newPayment(solana))).body;
    await page.goto(paymentUrl ?? '');
    const play = page.getByRole('button', { name: 'Play to a phone nearby' });
    await play.click();
    await page.getByRole('button', { name: 'Stop playing' }).waitFor();
    await until('a sound', () => page.evaluate<boolean>('window.played.length > 0'));
    const [heard] = await heardIn(page);
    expect(heard).toEqual({ id: intent.id, livemode: false, count: 1 });
    expect((await api.detected(intent.id)).body.intent.detectedAt).not.toBeNull();
    await play.waitFor();
    const usdc = solana.tokens['USDC'] ?? '';
    await walletOn(solana, phone).pay(usdc, intent.requestor, 1_000_000n, intent.reference as Reference);
    await page.locator('.status strong', { hasText: /^Paid/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  it.each<[string, string, Parameters<typeof open>[0], string?]>([
    ['the page is not secure', 'insecure_context', { host: 'pf.test' }],
    ['the microphone is refused', 'microphone_denied', { at: '/refused' }],
    ['it is an iPhone', 'ios', { userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)' }],
    [
      'the processing stays on',
      'processing',
      { before: 'MediaStreamTrack.prototype.getSettings = () => ({ noiseSuppression: true })' },
    ],
    [
      'it is a slow headset',
      'sample_rate',
      { before: 'MediaStreamTrack.prototype.getSettings = () => ({ sampleRate: 16000 })' },
    ],
    [
      'the microphone delivers zeros',
      'silent',
      {
        before: `navigator.mediaDevices.getUserMedia = async () =>
          new MediaStreamAudioDestinationNode(new AudioContext()).stream`,
      },
    ],
    ['the script is missing', 'script', {}, '/missing.js'],
    ['the script has no policy of its own', 'script', {}, '/bare.js'],
    ['the script is of another origin', 'script', {}, 'http://localhost:1/pf-sound.js'],
  ])('says so when %s', async (_, code, options, script = '/pf-sound.js') => {
    const page = await open(options);
    expect(await page.evaluate(`window.hear({ script: '${script}' })`)).toBe(code);
  });
});
