import { REDIS_RIGHTS, REDIS_SERVICES, type RedisService, redisUser } from '../../../packages/redis/src/users.ts';
import { withMarked } from './documents.ts';

const PAGE = 'docs/operations/deploy.md';

/**
 * The users of Redis on one machine, as the server's `aclfile`: a connection without a user can do nothing but `PING`,
 * and what looks after the server is `admin`.
 */
const LOCAL_USERS = [
  'user default on nopass resetkeys resetchannels -@all +ping +auth +hello',
  'user admin on >local ~* &* +@all',
  ...REDIS_SERVICES.map((service) => `user ${redisUser(service)} on >local ${REDIS_RIGHTS[service]}`),
  '',
].join('\n');

const WIDTH = 110;

/** The command that makes a user, on as many lines as it takes. */
const commandFor = (service: RedisService): string => {
  const lines = [`redis-cli ACL SETUSER ${redisUser(service)} on '>its-password'`];
  for (const rule of REDIS_RIGHTS[service].split(' ')) {
    const word = /[~&|]/.test(rule) ? `'${rule}'` : rule;
    const line = `${lines.at(-1)} ${word}`;
    if (line.length > WIDTH) lines.push(`  ${word}`);
    else lines[lines.length - 1] = line;
  }
  return lines.join(' \\\n');
};
const COMMANDS = ['```sh', ...REDIS_SERVICES.map(commandFor), '```'].join('\n');

/** The files that follow from the users of Redis. */
export const REDIS_FILES: Readonly<Record<string, (current: string) => string | Promise<string>>> = {
  'infra/docker/redis-users.acl': () => LOCAL_USERS,
  // Kustomize reads no file from outside its folder.
  'k8s/overlays/local/redis-users.acl': () => LOCAL_USERS,
  [PAGE]: (current) => withMarked(PAGE, current, 'redis users', COMMANDS),
};
