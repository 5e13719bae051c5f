import { fileURLToPath } from 'node:url';
import { FolderStore } from './folder-store.ts';
import type { ObjectStore } from './object-store.ts';
import { S3Store } from './s3-store.ts';

/** The archive at an URL of archive-url.ts. */
export const openStore = (url: URL): ObjectStore =>
  url.protocol === 's3:' ? new S3Store(url) : new FolderStore(fileURLToPath(url));
