import { z } from 'zod';

/**
 * What a member of an account may do, most first. `support` sees payments and deliveries and helps with them, without
 * secrets and keys; `viewer` only reads.
 */
export const ROLES = ['owner', 'developer', 'support', 'viewer'] as const;
export const role = z.enum(ROLES);
export type Role = z.infer<typeof role>;
