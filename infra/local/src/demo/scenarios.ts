import { walletOn } from '@pf/testing/wallets';
import type { DemoFault } from './faults.ts';
import type { Scenario } from './options.ts';
import { reasonOf } from './reason.ts';
import { build, create, detect, type Intent, reach, type Scene, settle, submit } from './scene.ts';
import { overhear } from './sound.ts';

const sign = ({ chain, payer }: Scene, blob: string): Promise<string> => walletOn(chain, payer).sign(blob);

/** A payment that succeeds. */
export const pay = async (scene: Scene): Promise<Intent> => await payDetected(scene, await create(scene));

/** The same; the payer learns the id by sound. */
export const payByEar = async (scene: Scene): Promise<Intent> =>
  await payDetected(scene, await overhear(scene, await create(scene)));

async function payDetected(scene: Scene, known: { readonly id: string }): Promise<Intent> {
  const intent = await detect(scene, known);
  const blob = await build(scene, intent);
  await settle(scene, intent, await submit(scene, intent, sign(scene, blob)));
  return intent;
}

/** The chain drops the transaction; once it can provably never land, the payer signs a new one. */
export async function payAfterDrop(scene: Scene, fault: DemoFault): Promise<Intent> {
  const intent = await create(scene);
  const blob = await build(scene, intent);
  scene.time.step(...(await fault.arm()));
  await submit(scene, intent, fault.sign(blob));
  scene.time.step(...(await fault.strike()));
  await reach(
    scene,
    intent,
    'created again',
    ({ state, retryRequired }) => state === 'created' && retryRequired === true,
  );
  scene.time.step('proven: it can never land', 'created, retryRequired: true');
  const again = await build(scene, intent);
  await settle(scene, intent, await submit(scene, intent, sign(scene, again)));
  return intent;
}

/** The transaction lands in a block and fails there. */
export async function fail(scene: Scene, fault: DemoFault): Promise<Intent> {
  const intent = await create(scene);
  const blob = await build(scene, intent);
  scene.time.step(...(await fault.arm()));
  const { txSignature, at } = await submit(scene, intent, fault.sign(blob));
  scene.time.step(...(await fault.strike()));
  await reach(scene, intent, 'failed', ({ state }) => state === 'failed');
  scene.time.step(
    'failed on chain',
    `${Math.round(scene.time.elapsed() - at)} ms after submit: ${await reasonOf(scene.chain, txSignature)}`,
  );
  return intent;
}

/** The last webhook of each scenario. */
export const LAST_EVENT = {
  pay: 'intent.finalized',
  sound: 'intent.finalized',
  drop: 'intent.finalized',
  fail: 'intent.failed',
} as const satisfies Record<Scenario, string>;
