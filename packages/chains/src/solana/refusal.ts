import type { Address } from '@solana/kit';
import { z } from 'zod';
import type { TransactionError } from './calls.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  LIGHTHOUSE_PROGRAM_ADDRESS,
  SYSTEM_PROGRAM_ADDRESS,
  TOKEN_PROGRAMS,
} from './programs.ts';

/** The transaction was refused before any instruction ran. */
const WHOLE: Readonly<Record<string, string>> = {
  BlockhashNotFound: 'the blockhash has expired',
  AccountNotFound: 'the payer has no SOL for the fee',
  InsufficientFundsForFee: 'the payer has too little SOL for the fee',
  InsufficientFundsForRent: "the payer's account would be left with too little SOL to exist",
  InvalidAccountForFee: "the payer's account cannot pay fees",
  SignatureFailure: 'a signature is invalid',
  AccountInUse: 'one of its accounts is in use: try again',
};

/** Custom errors of the token programs (both number them alike) and of the system program. */
const TOKEN: Readonly<Record<number, string>> = {
  0: 'a token account would be left with too little SOL to exist',
  1: 'insufficient funds: the payer holds too few tokens',
  3: 'a token account holds another token',
  4: 'the payer does not own the token account',
  17: 'a token account is frozen',
  67: 'the token is paused',
};
const SYSTEM: Readonly<Record<number, string>> = {
  1: 'insufficient funds: the payer has too little SOL for the rent of the new token account',
};
const BUILT_IN: Readonly<Record<string, string>> = {
  InsufficientFunds: 'insufficient funds',
  ComputationalBudgetExceeded: 'it needs more compute units than its limit allows',
  ProgramFailedToComplete: 'it needs more compute units than its limit allows',
  InvalidAccountData: 'a token account does not exist or is another kind of account',
  IncorrectProgramId: 'an account belongs to another program',
  IllegalOwner: 'a token account has the wrong owner',
};

const instructionError = z.object({
  InstructionError: z.tuple([
    z.number(),
    z.union([z.string(), z.object({ Custom: z.number() }), z.record(z.string(), z.unknown())]),
  ]),
});

/**
 * Why the chain did not or would not execute a transaction, as text.
 * @param programs the programs of its instructions, in their order
 */
export function reasonOf(error: TransactionError, programs: readonly (Address | undefined)[]): string {
  if (typeof error === 'string') return WHOLE[error] ?? error;
  const parsed = instructionError.safeParse(error);
  if (!parsed.success) {
    const [name = 'unknown'] = Object.keys(error);
    return WHOLE[name] ?? name;
  }
  const [place, cause] = parsed.data.InstructionError;
  const where = `instruction ${place}`;
  if (typeof cause === 'string') return `${BUILT_IN[cause] ?? cause} (${where})`;
  const { data } = z.object({ Custom: z.number() }).safeParse(cause);
  if (data === undefined) return `${Object.keys(cause)[0] ?? 'unknown'} (${where})`;
  return `${custom(programs[place], data.Custom)} (${where})`;
}

function custom(program: Address | undefined, code: number): string {
  const unnamed = `error ${code} of ${program ?? 'a program'}`;
  if (program === undefined) return unnamed;
  if (program === LIGHTHOUSE_PROGRAM_ADDRESS)
    return "an assertion that the payer's wallet added to the transaction failed";
  if (TOKEN_PROGRAMS.has(program)) return TOKEN[code] ?? unnamed;
  // Creating an account passes on the errors of the system program, which pays for it.
  if (program === ASSOCIATED_TOKEN_PROGRAM_ADDRESS || program === SYSTEM_PROGRAM_ADDRESS)
    return SYSTEM[code] ?? unnamed;
  return unnamed;
}
