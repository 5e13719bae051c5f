import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { FolderStore, StoreUnavailableError } from '../../src/index.ts';
import { describeObjectStore } from './suite.ts';

const folders: string[] = [];
async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pf-archive-test-'));
  folders.push(folder);
  return folder;
}
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

describeObjectStore('a folder', async () => new FolderStore(path.join(await newFolder(), 'archive')));

it('a folder that cannot be written to is unavailable', async () => {
  const file = path.join(await newFolder(), 'file');
  await writeFile(file, '');
  const store = new FolderStore(file);
  await expect(store.create('a', Buffer.from('a'))).rejects.toThrow(StoreUnavailableError);
  await expect(store.replace('a', Buffer.from('a'))).rejects.toThrow(StoreUnavailableError);
});

it('a folder keeps nothing of refused objects', async () => {
  const folder = await newFolder();
  const store = new FolderStore(folder);
  await store.create('a', Buffer.from('a'));
  await store.create('a', Buffer.from('b'));
  expect(await readdir(path.join(folder, '.unfinished'))).toEqual([]);
});
