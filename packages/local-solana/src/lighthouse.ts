import type { Account } from './runtime.ts';

/** Wallets guard the transactions that they sign with assertions of this program. */
const LIGHTHOUSE = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';
const LOADER = 'BPFLoader2111111111111111111111111111111111';

/** `mov64 r0, 0` and `exit`: every call succeeds. */
const CODE = Buffer.from('b7000000000000009500000000000000', 'hex');
const NAMES = Buffer.from('\0.text\0.shstrtab\0');
const HEADER_BYTES = 64;
const SECTION_BYTES = 64;
/** e_ident of a 64-bit little-endian file, e_type (shared object), e_machine (BPF), e_version. */
const IDENTITY = Buffer.from('7f454c460201010000000000000000000300f70001000000', 'hex');

/** A section header; the section's file offset is also its address. */
function section(name: string, type: number, flags: bigint, at: number, bytes: number): Buffer {
  const header = Buffer.alloc(SECTION_BYTES);
  header.writeUInt32LE(NAMES.indexOf(`${name}\0`), 0);
  header.writeUInt32LE(type, 4);
  header.writeBigUInt64LE(flags, 8);
  header.writeBigUInt64LE(BigInt(at), 16);
  header.writeBigUInt64LE(BigInt(at), 24);
  header.writeBigUInt64LE(BigInt(bytes), 32);
  header.writeBigUInt64LE(8n, 48);
  return header;
}

/** A minimal program file that the loader accepts: ELF with the code and the section names. */
function program(code: Buffer): Buffer {
  const namesAt = HEADER_BYTES + code.length;
  const sectionsAt = Math.ceil((namesAt + NAMES.length) / 8) * 8;
  const header = Buffer.alloc(HEADER_BYTES);
  IDENTITY.copy(header);
  header.writeBigUInt64LE(BigInt(HEADER_BYTES), 24);
  header.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  header.writeBigUInt64LE(BigInt(sectionsAt), 40);
  // The sizes of this header, a program header (there is none) and a section header; three sections, the last of which
  // has the names.
  for (const [place, value] of [HEADER_BYTES, 56, 0, SECTION_BYTES, 3, 2].entries())
    header.writeUInt16LE(value, 52 + 2 * place);
  const padding = Buffer.alloc(sectionsAt - namesAt - NAMES.length);
  return Buffer.concat([
    header,
    code,
    NAMES,
    padding,
    Buffer.alloc(SECTION_BYTES),
    section('.text', 1, 6n, HEADER_BYTES, code.length),
    section('.shstrtab', 3, 0n, namesAt, NAMES.length),
  ]);
}

/**
 * A program at Lighthouse's address whose assertions always hold, so that transactions with wallets' guards land here.
 * The real program's binary is not ours to distribute.
 */
export function lighthouse(rent: (bytes: number) => bigint): readonly [string, Account] {
  const data = program(CODE);
  return [LIGHTHOUSE, { lamports: rent(data.length), owner: LOADER, executable: true, data }];
}
