/**
 * A program for the local Solana that makes one call for whoever calls it, with the signature of a vault of its own, as
 * multisigs, escrows and bridges do. Assembled by hand: no compiler for it is at hand.
 *
 * Accounts: the program to be called, then those of the call. Data: the vault's bump seed, a byte for each account of
 * the call (1: signer, 2: writable), and the data of the call.
 */

/** Where the program puts its tables: in the heap, which each call has to itself. */
const HEAP = 0x3_0000_0000n;
const METAS = HEAP;
const CALL = HEAP + 0xf00n;
const SEEDS = HEAP + 0xf40n;
const SIGNERS = HEAP + 0xf80n;
const SEED_TEXT = HEAP + 0xfc0n;
const INFOS = HEAP + 0x1000n;
const INFO_BYTES = 56;

/** The vault is the program's address for this seed and a bump. */
export const VAULT_SEED = 'vault';

type Register = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;

/** Instructions of SBPF v0, with jumps to labels. */
class Assembly {
  readonly #code: Buffer[] = [];
  readonly #labels = new Map<string, number>();
  readonly #jumps: { readonly at: number; readonly to: string }[] = [];
  /** Offsets of the calls of syscalls. */
  readonly calls: number[] = [];

  #emit(opcode: number, target: Register, source: Register, offset: number, value: number): void {
    const bytes = Buffer.alloc(8);
    bytes[0] = opcode;
    bytes[1] = target | (source << 4);
    bytes.writeInt16LE(offset, 2);
    bytes.writeInt32LE(value, 4);
    this.#code.push(bytes);
  }
  label(name: string): void {
    this.#labels.set(name, this.#code.length);
  }
  #jump(opcode: number, target: Register, source: Register, value: number, to: string): void {
    this.#jumps.push({ at: this.#code.length, to });
    this.#emit(opcode, target, source, 0, value);
  }
  goto = (to: string): void => this.#jump(0x05, 0, 0, 0, to);
  /** Jumps where the one is at least the other. */
  atLeast = (one: Register, other: Register, to: string): void => this.#jump(0x3d, one, other, 0, to);
  unequal = (one: Register, value: number, to: string): void => this.#jump(0x55, one, 0, value, to);
  copy = (target: Register, source: Register): void => this.#emit(0xbf, target, source, 0, 0);
  set = (target: Register, value: number): void => this.#emit(0xb7, target, 0, 0, value);
  add = (target: Register, value: number): void => this.#emit(0x07, target, 0, 0, value);
  addRegister = (target: Register, source: Register): void => this.#emit(0x0f, target, source, 0, 0);
  subtract = (target: Register, source: Register): void => this.#emit(0x1f, target, source, 0, 0);
  multiply = (target: Register, value: number): void => this.#emit(0x27, target, 0, 0, value);
  and = (target: Register, value: number): void => this.#emit(0x57, target, 0, 0, value);
  shiftRight = (target: Register, bits: number): void => this.#emit(0x77, target, 0, 0, bits);
  load = (target: Register, from: Register, offset: number): void => this.#emit(0x79, target, from, offset, 0);
  loadByte = (target: Register, from: Register, offset: number): void => this.#emit(0x71, target, from, offset, 0);
  store = (to: Register, offset: number, source: Register): void => this.#emit(0x7b, to, source, offset, 0);
  storeByte = (to: Register, offset: number, source: Register): void => this.#emit(0x73, to, source, offset, 0);
  wide(target: Register, value: bigint): void {
    this.#emit(0x18, target, 0, 0, Number(BigInt.asIntN(32, value)));
    this.#emit(0x00, 0, 0, 0, Number(BigInt.asIntN(32, value >> 32n)));
  }
  /** The loader writes the syscall's hash into it. */
  call(): void {
    this.calls.push(8 * this.#code.length);
    this.#emit(0x85, 0, 1, 0, -1);
  }
  exit = (): void => this.#emit(0x95, 0, 0, 0, 0);

  bytes(): Buffer {
    for (const { at, to } of this.#jumps) {
      const place = this.#labels.get(to);
      if (place === undefined) throw new Error(`there is no label ${to}`);
      this.#code[at]?.writeInt16LE(place - at - 1, 2);
    }
    return Buffer.concat(this.#code);
  }
}

function forwarding(): Assembly {
  const code = new Assembly();
  // The accounts, as the loader lays them out, become a list of SolAccountInfo. r6: where to read; r9: where to write.
  code.copy(6, 1);
  code.load(8, 6, 0);
  code.add(6, 8);
  code.set(7, 0);
  code.wide(9, INFOS);
  code.label('account');
  code.atLeast(7, 8, 'accounts done');
  code.loadByte(2, 6, 0);
  code.unequal(2, 0xff, 'repeated');
  for (const [offset, at] of [
    [0, 8],
    [8, 72],
    [24, 88],
    [32, 40],
  ] as const) {
    code.copy(3, 6);
    code.add(3, at);
    code.store(9, offset, 3);
  }
  code.load(4, 6, 80);
  code.store(9, 16, 4);
  code.copy(5, 6);
  code.add(5, 88 + 10_240 + 7);
  code.addRegister(5, 4);
  code.and(5, -8);
  code.load(3, 5, 0);
  code.store(9, 40, 3);
  for (const [offset, at] of [
    [48, 1],
    [49, 2],
    [50, 3],
  ] as const) {
    code.loadByte(3, 6, at);
    code.storeByte(9, offset, 3);
  }
  code.copy(6, 5);
  code.add(6, 8);
  code.goto('next');
  code.label('repeated');
  code.multiply(2, INFO_BYTES);
  code.wide(3, INFOS);
  code.addRegister(3, 2);
  for (let offset = 0; offset < INFO_BYTES; offset += 8) {
    code.load(4, 3, offset);
    code.store(9, offset, 4);
  }
  code.add(6, 8);
  code.label('next');
  code.add(9, INFO_BYTES);
  code.add(7, 1);
  code.goto('account');
  code.label('accounts done');
  // The flags become a list of SolAccountMeta. r6: the data; r7: its length; r5: the next flag.
  code.load(7, 6, 0);
  code.add(6, 8);
  code.set(2, 1);
  code.wide(3, INFOS + BigInt(INFO_BYTES));
  code.wide(4, METAS);
  code.copy(5, 6);
  code.add(5, 1);
  code.label('flag');
  code.atLeast(2, 8, 'flags done');
  code.load(1, 3, 0);
  code.store(4, 0, 1);
  code.loadByte(1, 5, 0);
  code.copy(0, 1);
  code.and(0, 1);
  code.storeByte(4, 9, 0);
  code.shiftRight(1, 1);
  code.storeByte(4, 8, 1);
  code.add(3, INFO_BYTES);
  code.add(4, 16);
  code.add(5, 1);
  code.add(2, 1);
  code.goto('flag');
  code.label('flags done');
  // SolInstruction: program, accounts, their number, data, its length.
  code.wide(1, CALL);
  code.wide(3, INFOS);
  code.load(2, 3, 0);
  code.store(1, 0, 2);
  code.wide(2, METAS);
  code.store(1, 8, 2);
  code.copy(2, 8);
  code.add(2, -1);
  code.store(1, 16, 2);
  code.store(1, 24, 5);
  code.subtract(7, 8);
  code.store(1, 32, 7);
  // The vault's seeds: the text, and the bump, which is the first byte of the data.
  code.wide(4, SEED_TEXT);
  code.wide(2, Buffer.from(`${VAULT_SEED}\0\0\0`).readBigUInt64LE());
  code.store(4, 0, 2);
  code.wide(5, SEEDS);
  code.store(5, 0, 4);
  code.set(2, VAULT_SEED.length);
  code.store(5, 8, 2);
  code.store(5, 16, 6);
  code.set(2, 1);
  code.store(5, 24, 2);
  code.wide(4, SIGNERS);
  code.store(4, 0, 5);
  code.set(2, 2);
  code.store(4, 8, 2);
  code.copy(2, 3);
  code.copy(3, 8);
  code.set(5, 1);
  code.call();
  code.exit();
  return code;
}

const HEADER_BYTES = 64;
const SECTION_BYTES = 64;
const align = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)]);
const words = (...values: readonly (number | bigint)[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [place, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 8 * place);
  return bytes;
};

/** The program's file: ELF whose dynamic section names the syscall that the loader is to fill in. */
export function forwarderFile(): Buffer {
  const code = forwarding();
  const text = code.bytes();
  const names = Buffer.from('\0sol_invoke_signed_c\0');
  const [SYMBOL, CALL_RELOCATION] = [1n, 10n];
  const symbols = Buffer.concat([Buffer.alloc(24), Buffer.alloc(24)]);
  symbols.writeUInt32LE(1, 24);
  symbols[28] = 0x10;
  const relocations = words(...code.calls.flatMap((at) => [HEADER_BYTES + at, (SYMBOL << 32n) | CALL_RELOCATION]));
  const textAt = HEADER_BYTES;
  const symbolsAt = textAt + text.length;
  const namesAt = symbolsAt + symbols.length;
  const relocationsAt = namesAt + align(names).length;
  const dynamicAt = relocationsAt + relocations.length;
  const [REL, RELSZ, RELENT, SYMTAB, STRTAB] = [17, 18, 19, 6, 5];
  const dynamic = words(
    ...[REL, relocationsAt, RELSZ, relocations.length, RELENT, 16, SYMTAB, symbolsAt, STRTAB, namesAt, 0, 0],
  );
  const sectionNames = Buffer.from('\0.text\0.dynsym\0.dynstr\0.rel.dyn\0.dynamic\0.shstrtab\0');
  const sectionNamesAt = dynamicAt + dynamic.length;
  const sectionsAt = sectionNamesAt + align(sectionNames).length;
  const section = (
    name: string,
    type: number,
    flags: bigint,
    at: number,
    bytes: number,
    link = 0,
    entry = 0,
  ): Buffer => {
    const header = Buffer.alloc(SECTION_BYTES);
    header.writeUInt32LE(sectionNames.indexOf(`${name}\0`), 0);
    header.writeUInt32LE(type, 4);
    header.writeBigUInt64LE(flags, 8);
    header.writeBigUInt64LE(BigInt(at), 16);
    header.writeBigUInt64LE(BigInt(at), 24);
    header.writeBigUInt64LE(BigInt(bytes), 32);
    header.writeUInt32LE(link, 40);
    header.writeBigUInt64LE(8n, 48);
    header.writeBigUInt64LE(BigInt(entry), 56);
    return header;
  };
  const header = Buffer.alloc(HEADER_BYTES);
  // A shared object for BPF, 64 bits, little endian.
  Buffer.from('7f454c460201010000000000000000000300f70001000000', 'hex').copy(header);
  header.writeBigUInt64LE(BigInt(textAt), 24);
  header.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  header.writeBigUInt64LE(BigInt(sectionsAt), 40);
  for (const [place, value] of [HEADER_BYTES, 56, 0, SECTION_BYTES, 7, 6].entries())
    header.writeUInt16LE(value, 52 + 2 * place);
  return Buffer.concat([
    header,
    text,
    symbols,
    align(names),
    relocations,
    dynamic,
    align(sectionNames),
    Buffer.alloc(SECTION_BYTES),
    section('.text', 1, 6n, textAt, text.length),
    section('.dynsym', 11, 2n, symbolsAt, symbols.length, 3, 24),
    section('.dynstr', 3, 2n, namesAt, names.length),
    section('.rel.dyn', 9, 2n, relocationsAt, relocations.length, 2, 16),
    section('.dynamic', 6, 2n, dynamicAt, dynamic.length, 3, 16),
    section('.shstrtab', 3, 0n, sectionNamesAt, sectionNames.length),
  ]);
}
