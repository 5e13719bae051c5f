import { variables } from '@pf/runtime';
import { z } from 'zod';
import { COMMAND_VARIABLES } from './command-variables.ts';

/** What Node itself reads. */
const PLATFORM = ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS'];

/**
 * What is wrong with an environment for a command: variables that it does not know, that it lacks, and values that it
 * would refuse.
 * @param environment null for a value that is a secret, and not known here
 */
export function problemsWith(command: string, environment: Readonly<Record<string, string | null>>): readonly string[] {
  const shape = { LOG_LEVEL: variables.logLevel, ...COMMAND_VARIABLES[command] };
  if (COMMAND_VARIABLES[command] === undefined) return [`${command} is no command of the image`];
  // As the services have it: an empty variable is an absent one.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const unknown = Object.keys(environment).filter((name) => !Object.hasOwn(shape, name) && !PLATFORM.includes(name));
  const known = Object.fromEntries(Object.entries(shape).filter(([name]) => environment[name] !== null));
  const result = z.object(known).safeParse(given);
  return [
    ...unknown.map((name) => `${command} does not know ${name}`),
    ...(result.success
      ? []
      : result.error.issues.map(({ path, message }) => `${command}, ${path.join('.')}: ${message}`)),
  ];
}
