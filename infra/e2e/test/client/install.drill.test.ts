import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const root = path.join(import.meta.dirname, '../../../..');
const PNPM = path.join(root, '.tools/pnpm/node_modules/pnpm/bin/pnpm.cjs');
/** A registry may be far away. */
const LONGEST_MS = 300_000;

/** Uses every entry of the package, as its README and docs/guide/sound.md do. */
const PROGRAM = `
import { PaymentApiError, PaymentClient, type PaymentIntent, webhooks } from '@pf/client';
import { announce, type Heard, listen, SoundError } from '@pf/client/sound';
import { decode, encode, fromWav, toWav } from '@pf/client/sound/node';

const client = new PaymentClient({ baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'pk_test_x' });
const id: PaymentIntent['id'] = 'pi_TEbEEpDcQaW6mkHGogzHDt';
const file: Uint8Array = toWav(await encode({ id, livemode: false }));
const [heard]: readonly Heard[] = await decode(fromWav(file));
const thrown = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    return String(await work());
  } catch (error) {
    return error instanceof SoundError ? error.code : error instanceof PaymentApiError ? error.name : String(error);
  }
};
console.log(
  [
    heard?.id,
    await thrown(() => announce({ id, livemode: false })),
    await thrown(() => listen().next()),
    await thrown(() => webhooks.verify('{}', {}, 'whsec_c2VjcmV0')).then((text) => text.length > 0),
    typeof client.intents.follow,
  ].join(' '),
);
`;
const OUTPUT = 'pi_TEbEEpDcQaW6mkHGogzHDt unsupported unsupported true function\n';

describe('the tarball of @pf/client', () => {
  let folder: string;
  let tarball: string;
  const run = async (cwd: string, program: string, ...args: readonly string[]): Promise<string> => {
    const failed = (error: unknown): never => {
      const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
      throw new Error(`${[program, ...args].join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
    };
    return (await promisify(execFile)(program, args, { cwd, timeout: LONGEST_MS }).catch(failed)).stdout;
  };
  async function project(name: string): Promise<string> {
    const place = path.join(folder, name);
    await mkdir(place);
    await writeFile(path.join(place, 'package.json'), JSON.stringify({ name, type: 'module', private: true }));
    return place;
  }

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'pf-tarball-'));
    await run(path.join(root, 'packages/client'), process.execPath, PNPM, 'pack', '--pack-destination', folder);
    const [file = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
    tarball = path.join(folder, file);
  }, LONGEST_MS);
  afterAll(async () => await rm(folder, { recursive: true }));

  it(
    'is installed by npm, compiled by TypeScript 5.4 to the newest, and run by Node 20 to 24',
    async () => {
      const place = await project('npm');
      const node = (version: number): string =>
        `node${version}@npm:node-${process.platform}-${process.arch}@${version}`;
      await run(
        place,
        'npm',
        ...['install', '--no-audit', '--no-fund', tarball, node(20), node(22)],
        ...['typescript54@npm:typescript@5.4', 'typescript59@npm:typescript@5.9', 'newest@npm:typescript@latest'],
      );
      await writeFile(path.join(place, 'program.ts'), PROGRAM);
      const common = ['--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--outDir', 'out'];
      const libraries = ['--lib', 'es2023,dom,dom.iterable,dom.asynciterable'];
      for (const compiler of ['typescript54', 'typescript59', 'newest'])
        for (const resolution of [
          ['--module', 'nodenext', '--moduleResolution', 'nodenext'],
          ['--module', 'esnext', '--moduleResolution', 'bundler'],
        ])
          await run(
            place,
            process.execPath,
            path.join('node_modules', compiler, 'bin/tsc'),
            ...[...common, ...libraries, ...resolution, 'program.ts'],
          );
      for (const program of [
        path.join(place, 'node_modules/node20/bin/node'),
        path.join(place, 'node_modules/node22/bin/node'),
        process.execPath,
      ])
        expect(await run(place, program, 'out/program.js')).toBe(OUTPUT);
    },
    LONGEST_MS,
  );

  it(
    'is installed by pnpm, and bundled for browsers by Vite and esbuild; sounds are loaded on demand',
    async () => {
      const place = await project('pnpm');
      await run(place, process.execPath, PNPM, 'add', '--ignore-scripts', tarball, 'vite', 'esbuild');
      await writeFile(path.join(place, 'index.html'), '<script type="module" src="/page.ts"></script>');
      await writeFile(
        path.join(place, 'page.ts'),
        `import { PaymentClient } from '@pf/client';
         const client = new PaymentClient({ baseUrl: '/v1', apiKey: 'pk_test_x' });
         document.title = typeof client.intents.create;
         const id = 'pi_TEbEEpDcQaW6mkHGogzHDt';
         document.onclick = async () => (await import('@pf/client/sound')).announce({ id, livemode: false });`,
      );
      await run(place, process.execPath, 'node_modules/vite/bin/vite.js', 'build', '--logLevel=error');
      const built = await sizes(path.join(place, 'dist/assets'));
      // What the page loads at first, the module of sounds, and its script, which Vite found by itself.
      expect(Object.keys(built).sort()).toEqual(['index', 'pf-sound', 'sound']);
      expect(built['index']).toBeLessThan(16_000);
      expect(built['sound']).toBeLessThan(5_000);

      const bundler = path.join(place, 'node_modules/esbuild/bin/esbuild');
      const options = ['--bundle', '--minify', '--splitting', '--format=esm', '--outdir=esbuild'];
      await run(place, process.execPath, bundler, 'page.ts', ...options);
      expect((await sizes(path.join(place, 'esbuild')))['page']).toBeLessThan(16_000);
    },
    LONGEST_MS,
  );
});

/** Compressed sizes of the scripts of a folder, by name without hash. */
async function sizes(folder: string): Promise<Readonly<Record<string, number>>> {
  const files = await readdir(folder);
  return Object.fromEntries(
    await Promise.all(
      files.map(async (file) => {
        const name = file.replace(/(-[\w-]{8})?\.js$/, '');
        return [name, gzipSync(await readFile(path.join(folder, file))).length] as const;
      }),
    ),
  );
}
