import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { FolderStore } from './folder-store.ts';
import type { ObjectStore } from './object-store.ts';

/** Where the archive lies, as configured: `file:///var/lib/archive`. */
export const archiveUrl = z
  .url({ protocol: /^file$/, error: 'must be a file: URL of a folder, such as file:///var/lib/archive' })
  .transform((text) => new URL(text));

export const openStore = (url: URL): ObjectStore => new FolderStore(fileURLToPath(url));
