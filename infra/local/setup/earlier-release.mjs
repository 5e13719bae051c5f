// The release before this one, from git, with its own dependencies: a test deploys it over this one's data.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { run } from './run.mjs';
import { step } from './say.mjs';
import { generate, install } from './workspace.mjs';

/** 1.0.0, the first deployed format of everything that is stored. */
const COMMIT = 'b026edb1989277efaaf1c0bec05acf0db09af5ff';

/**
 * Its sources run as they stand, so nothing is compiled. Without the history of git, in a shallow clone, there is none.
 *
 * @param {{ root: string, tools: string, node: string, pnpm: string, environment: NodeJS.ProcessEnv }} place
 * @returns {Promise<string | null>} its folder
 */
export async function earlierRelease({ root, tools, node, pnpm, environment }) {
  const folder = path.join(tools, 'releases', COMMIT.slice(0, 7));
  if (!existsSync(folder)) {
    const there = await run('git', ['cat-file', '-e', `${COMMIT}^{commit}`], { cwd: root }).then(
      () => true,
      () => false,
    );
    if (!there) return null;
    await step(`Release ${COMMIT.slice(0, 7)} from git`, async () => {
      const unfinished = `${folder}.unfinished`;
      rmSync(unfinished, { recursive: true, force: true });
      mkdirSync(unfinished, { recursive: true });
      const archive = `${unfinished}.tar`;
      await run('git', ['archive', `--output=${archive}`, COMMIT], { cwd: root });
      await run('tar', ['-xf', archive, '-C', unfinished]);
      rmSync(archive);
      renameSync(unfinished, folder);
    });
  }
  const own = { root: folder, tools: path.join(folder, '.tools'), node, pnpm, environment };
  await install(own);
  await generate(own);
  return folder;
}
