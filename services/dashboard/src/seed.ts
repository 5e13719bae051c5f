import { randomBytes } from 'node:crypto';
import { newUserId } from '@pf/contracts';
import type { Database } from '@pf/database';
import { hashPassword } from 'better-auth/crypto';

/** Whether a person with this e-mail address is registered. */
export const isRegistered = async ({ prisma }: Database, email: string): Promise<boolean> =>
  (await prisma.user.count({ where: { email } })) > 0;

/** Registers a person with a confirmed e-mail address as owner of an account, for development. @returns the password */
export async function seedOwner(
  { prisma }: Database,
  { accountId, name, email }: { readonly accountId: string; readonly name: string; readonly email: string },
): Promise<string> {
  const password = randomBytes(12).toString('base64url');
  const id = newUserId();
  await prisma.user.create({
    data: {
      id,
      name,
      email,
      emailVerified: true,
      credentials: {
        create: {
          id: randomBytes(16).toString('hex'),
          accountId: id,
          providerId: 'credential',
          password: await hashPassword(password),
        },
      },
      members: { create: { accountId, role: 'owner' } },
    },
  });
  return password;
}
