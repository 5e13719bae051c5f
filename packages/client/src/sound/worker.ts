import { SoundError } from './errors.ts';
import type { FromWorker, ToWorker } from './messages.ts';

/** Where the page has `@pf/client/sound/script.js`. Default: beside this module, where bundlers put it. */
export type ScriptUrl = string | URL;

/** What TypeScript's older libraries do not have. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/** With `require-trusted-types-for 'script'`, a page takes URLs of scripts from policies only. */
let policy: { createScriptURL(url: string): string } | undefined;
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  try {
    policy ??= trustedTypes?.createPolicy('pf-sound', { createScriptURL: sameOrigin });
  } catch (cause) {
    throw new SoundError('script', 'The page does not allow the policy pf-sound for Trusted Types.', { cause });
  }
  return policy?.createScriptURL(url) ?? sameOrigin(url);
}

function sameOrigin(url: string): string {
  if (new URL(url).origin !== location.origin) throw new SoundError('script', `${url} is of another origin.`);
  return url;
}

/** @throws SoundError `script` when the page may not load it from there */
export function scriptUrl(script: ScriptUrl | undefined): string {
  const url = script === undefined ? new URL('./pf-sound.js', import.meta.url) : new URL(script, location.href);
  return trusted(url.href);
}

/** The Worker, with what it answers. @throws SoundError `script` when it does not answer at all */
export class SoundWorker {
  readonly #worker: Worker;
  #answer: (message: FromWorker) => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;

  constructor(url: string) {
    this.#worker = new Worker(url);
    this.#worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.type === 'failed') this.#fail(new SoundError('script', `The script of sounds failed: ${data.message}.`));
      else this.#answer(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(new SoundError('script', `${url} could not be run.`));
    };
  }

  /** @param onAnswer called with every answer from now on; `onFail` once there can be none any more */
  ask(
    message: ToWorker,
    onAnswer: (message: FromWorker) => void,
    onFail: (error: Error) => void,
    transfer: Transferable[] = [],
  ): void {
    this.#answer = onAnswer;
    this.#fail = onFail;
    this.#worker.postMessage(message, transfer);
  }

  close(): void {
    this.#worker.terminate();
  }
}
