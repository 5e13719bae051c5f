import { parseStrictly } from '../command-line.ts';

/** What runs without a phase being named. */
export const TESTS = ['unit', 'integration', 'e2e'] as const;
const PHASES = ['types', 'lint', ...TESTS, 'drills', 'providers'] as const;
export type Phase = (typeof PHASES)[number];

export const HELP = `npm test [PHASE …] [PATH …]: run the tests.

  PHASE             ${PHASES.join(', ')}. Without one: ${TESTS.join(', ')}
  PATH              a part of a test file's path, with a "/" or ".ts" in it: only the files that match run
  --provider LIST   for the phase providers: only these profiles, separated by commas
  --help            show this help

  npm test integration services/gateway/test/access.integration.test.ts
  npm test e2e infra/e2e/test/mpp/`;

/** What a run of the tests does. */
export interface TestArguments {
  readonly help: boolean;
  readonly phases: ReadonlySet<Phase>;
  /** Parts of paths: the test files that match one of them run. Empty: all. */
  readonly paths: readonly string[];
  readonly providers: readonly string[];
}

const isPath = (argument: string): boolean => argument.includes('/') || argument.endsWith('.ts');

function parse(args: readonly string[]) {
  try {
    return parseStrictly(args, { provider: { type: 'string', multiple: true } });
  } catch (error) {
    throw new Error(`${(error as Error).message} See \`npm test -- --help\`.`, { cause: error });
  }
}

/**
 * Reads the arguments of `npm test`.
 * @throws Error for an unknown option or phase, with what there is
 */
export function readArguments(args: readonly string[]): TestArguments {
  const { values, positionals } = parse(args);
  const names = positionals.filter((argument) => !isPath(argument));
  const unknown = names.filter((name) => !(PHASES as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new Error(
      `Unknown phase: ${unknown.join(', ')}. The phases are ${PHASES.join(', ')}; a path has a "/" or ends in ".ts".`,
    );
  return {
    help: values.help ?? false,
    phases: new Set<Phase>(names.length === 0 ? TESTS : PHASES.filter((phase) => names.includes(phase))),
    paths: positionals.filter(isPath),
    providers: values.provider ?? [],
  };
}
