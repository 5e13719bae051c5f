import { base58 } from '@scure/base';
import { MEMOS } from './memos.ts';
import { uiAmount } from './meta.ts';
import { TOKEN, TOKEN_2022 } from './tokens.ts';

/** An instruction with its account indexes resolved to addresses. */
export interface Instruction {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
  /** 1 for the transaction's own instructions. */
  readonly stackHeight: number;
}

const SYSTEM = '11111111111111111111111111111111';
const ATA = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

/**
 * The instructions of both token programs by their first byte: type, account names, and how the amount is encoded.
 */
const TOKEN_INSTRUCTIONS: Readonly<
  Record<number, readonly [type: string, accounts: readonly string[], amount?: 'plain' | 'checked']>
> = {
  3: ['transfer', ['source', 'destination', 'authority'], 'plain'],
  4: ['approve', ['source', 'delegate', 'owner'], 'plain'],
  5: ['revoke', ['source', 'owner']],
  7: ['mintTo', ['mint', 'account', 'mintAuthority'], 'plain'],
  8: ['burn', ['account', 'mint', 'authority'], 'plain'],
  9: ['closeAccount', ['account', 'destination', 'owner']],
  10: ['freezeAccount', ['account', 'mint', 'freezeAuthority']],
  11: ['thawAccount', ['account', 'mint', 'freezeAuthority']],
  12: ['transferChecked', ['source', 'mint', 'destination', 'authority'], 'checked'],
  13: ['approveChecked', ['source', 'mint', 'delegate', 'owner'], 'checked'],
  14: ['mintToChecked', ['mint', 'account', 'mintAuthority'], 'checked'],
  15: ['burnChecked', ['account', 'mint', 'authority'], 'checked'],
  22: ['initializeImmutableOwner', ['account']],
};
const ATA_INSTRUCTIONS = ['create', 'createIdempotent'];
const ATA_ACCOUNTS = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'];

const named = (names: readonly string[], accounts: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name, index) => [name, accounts[index]]));

function tokenInstruction({ accounts, data: bytes }: Instruction): unknown {
  const data = Buffer.from(bytes);
  const [type, names, amount] = TOKEN_INSTRUCTIONS[data[0] ?? -1] ?? [];
  if (
    type === undefined ||
    names === undefined ||
    accounts.length < names.length ||
    data.length < (amount === undefined ? 1 : amount === 'plain' ? 9 : 10)
  )
    return undefined;
  const info = named(names, accounts);
  if (amount === 'plain') info['amount'] = String(data.readBigUInt64LE(1));
  if (amount === 'checked') info['tokenAmount'] = uiAmount(data.readBigUInt64LE(1), data.readUInt8(9));
  return { type, info };
}

/** The program's name and the decoded instruction; undefined: not decoded here. */
function parsed(instruction: Instruction): { program: string; parsed: unknown } | undefined {
  const { program, accounts } = instruction;
  const data = Buffer.from(instruction.data);
  if (MEMOS.includes(program)) return { program: 'spl-memo', parsed: data.toString() };
  if (program === TOKEN || program === TOKEN_2022) {
    const parsed = tokenInstruction(instruction);
    return parsed === undefined ? undefined : { program: 'spl-token', parsed };
  }
  if (program === ATA && accounts.length >= ATA_ACCOUNTS.length) {
    const type = ATA_INSTRUCTIONS[data[0] ?? 0];
    return type === undefined
      ? undefined
      : { program: 'spl-associated-token-account', parsed: { type, info: named(ATA_ACCOUNTS, accounts) } };
  }
  const isTransfer = program === SYSTEM && data.length === 12 && data.readUInt32LE(0) === 2;
  return isTransfer
    ? {
        program: 'system',
        parsed: {
          type: 'transfer',
          info: { ...named(['source', 'destination'], accounts), lamports: data.readBigUInt64LE(4) },
        },
      }
    : undefined;
}

/** An instruction as `jsonParsed`: decoded for the programs of payments, otherwise program, accounts and data. */
export function instructionJson(instruction: Instruction): unknown {
  const { program: programId, accounts, data, stackHeight } = instruction;
  const inWords = parsed(instruction);
  return inWords
    ? { ...inWords, programId, stackHeight }
    : { programId, accounts, data: base58.encode(data), stackHeight };
}
