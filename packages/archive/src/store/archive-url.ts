import { z } from 'zod';

/** Where the archive lies, as configured: `file:///var/lib/archive`. */
export const archiveUrl = z
  .url({ protocol: /^file$/, error: 'must be a file: URL of a folder, such as file:///var/lib/archive' })
  .transform((text) => new URL(text));
