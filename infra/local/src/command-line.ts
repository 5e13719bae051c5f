import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

/** An option of a command. */
export interface Option<Value> {
  /** What it is for, as a line of the help. */
  readonly about: string;
  /** The word for its value in the help: `N`; null for what is only there or not. */
  readonly takes: string | null;
  readonly otherwise: Value;
  /** @throws Error that says what it takes instead */
  readonly read: (text: string) => Value;
}

type Options = Readonly<Record<string, Option<unknown>>>;
type ValuesOf<Of extends Options> = { readonly [Name in keyof Of]: Of[Name]['otherwise'] };

/** What a command takes. */
interface Command<Of extends Options> {
  /** As a person runs it: `npm run bench:watch`. */
  readonly name: string;
  readonly about: string;
  readonly options?: Of;
  /** What it takes beside options, at most so many: `[CASE]`. Without it, nothing. */
  readonly operands?: { readonly takes: string; readonly about: string; readonly most: number };
}

/** What its command line says: what to run with, what to print instead, or what is wrong with it. */
export type CommandLine<Of extends Options> =
  | { readonly kind: 'run'; readonly values: ValuesOf<Of>; readonly operands: readonly string[] }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'wrong'; readonly problem: string };

/** A command line that cannot be understood (sysexits.h). */
const EX_USAGE = 64;

/** A command line is invalid; the message is a sentence that says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Parses the arguments of any command: these options, `--help`, and whatever else stands beside them.
 * @throws UsageError that names the option
 */
export function parseStrictly<Of extends ParseArgsOptionsConfig>(args: readonly string[], options: Of) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    // The first sentence of Node's message names the option; the rest explains shells.
    throw new UsageError(`${(error as Error).message.split('. ')[0]}.`, { cause: error });
  }
}
const COLUMN = 22;

/** A number within bounds: whole, a multiple of `step`, or any where that is null. */
export function count(
  about: string,
  otherwise: number,
  { least = 1, most, step = 1 }: { readonly least?: number; readonly most: number; readonly step?: number | null },
): Option<number> {
  const read = (text: string): number => {
    const number = text.trim() === '' ? NaN : Number(text);
    if (number >= least && number <= most && (step === null || number % step === 0)) return number;
    const bounds = `from ${least.toLocaleString('en-US')} to ${most.toLocaleString('en-US')}`;
    const kind = step === null ? 'number' : step === 1 ? 'whole number' : `multiple of ${step}`;
    throw new Error(`"${text}" is not a ${kind} ${bounds}.`);
  };
  return { about, takes: 'N', otherwise, read };
}

/** Numbers within bounds, separated by commas. */
export function counts(
  about: string,
  otherwise: readonly number[],
  bounds: { most: number },
): Option<readonly number[]> {
  const { read } = count(about, 0, bounds);
  return { about, takes: 'N,N', otherwise, read: (text) => text.split(',').map(read) };
}

/** One of these. */
export function choice<Name extends string>(about: string, names: readonly Name[], otherwise: Name): Option<Name> {
  const read = (text: string): Name => {
    const found = names.find((name) => name === text);
    if (found === undefined) throw new Error(`"${text}" is none of ${names.join(', ')}.`);
    return found;
  };
  return { about, takes: names.join('|'), otherwise, read };
}

export const word = (about: string, otherwise: string): Option<string> => ({
  about,
  takes: 'WORD',
  otherwise,
  read: (text) => text,
});

export const flag = (about: string): Option<boolean> => ({ about, takes: null, otherwise: false, read: () => true });

const HELP = flag('Show this help');

/** @param args what stands behind the command's name */
export function readCommandLine<Of extends Options>(args: readonly string[], command: Command<Of>): CommandLine<Of> {
  const { options = {} as Of, operands } = command;
  const kinds = Object.entries(options).map(([name, { takes }]) => [
    name,
    takes === null ? ({ type: 'boolean' } as const) : ({ type: 'string', multiple: true } as const),
  ]);
  let parsed: { values: Readonly<Record<string, unknown>>; positionals: readonly string[] };
  try {
    parsed = parseStrictly(args, Object.fromEntries(kinds) as ParseArgsOptionsConfig);
  } catch (error) {
    return { kind: 'wrong', problem: (error as UsageError).message };
  }
  const { values, positionals } = parsed;
  if (values['help'] === true) return { kind: 'help', text: helpOf(command) };
  const [unexpected] = positionals.slice(operands?.most ?? 0);
  if (unexpected !== undefined) return { kind: 'wrong', problem: `"${unexpected}" is not expected.` };
  const read: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) {
    const given = values[name];
    try {
      // What is given twice is a list: where one value is expected, that is refused.
      read[name] = given === undefined ? option.otherwise : option.read(Array.isArray(given) ? given.join(',') : '');
    } catch (error) {
      return { kind: 'wrong', problem: `--${name}: ${(error as Error).message}` };
    }
  }
  return { kind: 'run', values: read as ValuesOf<Of>, operands: positionals };
}

/**
 * Reads the command line of this process. Where it asks for help, or is wrong, that is printed and the process ends.
 * @param args what stands behind the command's name
 * @returns the values of all options, and what stands beside them
 */
export function commandLine<Of extends Options>(
  command: Command<Of>,
  args: readonly string[] = process.argv.slice(2),
): { readonly values: ValuesOf<Of>; readonly operands: readonly string[] } {
  const line = readCommandLine(args, command);
  if (line.kind === 'run') return line;
  if (line.kind === 'help') {
    console.log(line.text);
    process.exit(0);
  }
  console.error(`${line.problem} See \`${command.name} -- --help\`.`);
  process.exit(EX_USAGE);
}

function helpOf({ name, about, options = {}, operands }: Command<Options>): string {
  const dashes = Object.keys(options).length > 0 ? ' -- [OPTION …]' : '';
  const lines = Object.entries({ ...options, help: HELP }).map(([option, { about, takes, otherwise }]) => {
    const shown = takes === null ? '' : [otherwise].flat().join(',');
    const usually = shown === '' ? '' : ` (${shown})`;
    return line(`--${option}${takes === null ? '' : ` ${takes}`}`, `${about}${usually}`);
  });
  const beside = operands === undefined ? [] : [line(operands.takes, operands.about)];
  return [
    `${name}${dashes}${operands === undefined ? '' : ` ${operands.takes}`}`,
    '',
    about,
    '',
    ...beside,
    ...lines,
  ].join('\n');
}

const line = (what: string, about: string): string =>
  what.length < COLUMN ? `  ${what.padEnd(COLUMN)}${about}` : `  ${what}\n  ${' '.repeat(COLUMN)}${about}`;
