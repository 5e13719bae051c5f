import { fileURLToPath } from 'node:url';
import { FolderStore } from './folder-store.ts';
import type { ObjectStore } from './object-store.ts';

/** The archive at an URL of archive-url.ts. */
export const openStore = (url: URL): ObjectStore => new FolderStore(fileURLToPath(url));
