/**
 * Words that were replaced: the pattern, what to write, and the files, if not all. docs/internals/glossary.md explains
 * them.
 */
export const replacedWords: readonly (readonly [pattern: RegExp, replacement: string, files?: RegExp])[] = [
  [/\b(?:is|are|was|were|be) away\b/i, 'is unavailable'],
  [/\bwhat (?:became|becomes|has become) of\b/i, 'the outcome of'],
  [/\bt(?:akes?|ook|aken|aking) (?:\w+ ){0,3}up anew\b/i, 'reacquires'],
  [/\banew\b/i, 'again'],
  [/finalis/i, 'finaliz…'],
  // `reorganised` is an event of `pf chain --json`.
  [/organis(?!ed')/i, 'organiz…'],
  [/\brecognis/i, 'recogniz…'],
  [/\bserialis/i, 'serializ…'],
  [/\bnormalis/i, 'normaliz…'],
  [/\binitialis/i, 'initializ…'],
  [/\bauthoris/i, 'authoriz…'],
  [/\bsummaris/i, 'summariz…'],
  [/behaviour/i, 'behavior'],
  [/\bhonour/i, 'honor'],
  [/\bcolour/i, 'color'],
  [/\bfavour/i, 'favor'],
  [/\bslices? of (?:input|a partition|commands|records)\b/i, 'batch'],
  [/\bput(?:s|ting)? aside\b/i, 'dead letter'],
  [/\bunasked\b/i, 'unscreened'],
  [/\bmishaps?\b/i, 'fault'],
  [/\bwhereabouts\b/i, 'chain position'],
  [/\ba hand on\b/i, 'control of'],
  [/\b(?:is|are|be) to be had\b/i, 'is available'],
  [/\bas this endpoint takes it\b/i, 'is invalid'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix or repair'],
  [/\bnext round\b/i, 'will retry'],
  [/\banswer(?:s|ed|ing)?\b/i, 'response, return or respond', /^(?:docs|packages\/contracts\/src)\//],
];

/** Pronouns that hide who acts. */
export const hiddenActors = /\b(?:nobody|somebody|anybody|everybody)\b/gi;
export const HIDDEN_ACTORS_AT_MOST = 20;
