import { variables } from '@pf/runtime';
import { z } from 'zod';
import { COMMAND_VARIABLES } from './command-variables.ts';

/** Variables that Node itself reads. */
const NODE_VARIABLES = ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS'];

/**
 * The problems of an environment for a command: unknown and missing variables, and values that it would refuse.
 * @param environment null for the value of a secret, which is not known here
 */
export function problemsWith(command: string, environment: Readonly<Record<string, string | null>>): readonly string[] {
  const shape = { LOG_LEVEL: variables.logLevel, ...COMMAND_VARIABLES[command] };
  if (COMMAND_VARIABLES[command] === undefined) return [`the image has no command ${command}`];
  // As in the services, an empty variable counts as absent.
  const values = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const unknown = Object.keys(environment).filter(
    (name) => !Object.hasOwn(shape, name) && !NODE_VARIABLES.includes(name),
  );
  const known = Object.fromEntries(Object.entries(shape).filter(([name]) => environment[name] !== null));
  const result = z.object(known).safeParse(values);
  return [
    ...unknown.map((name) => `${command} does not know ${name}`),
    ...(result.success
      ? []
      : result.error.issues.map(({ path, message }) => `${command}, ${path.join('.')}: ${message}`)),
  ];
}
