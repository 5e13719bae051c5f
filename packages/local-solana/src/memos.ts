import type { Message } from './wire.ts';

/** The Memo program and its first version. */
export const MEMOS = ['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'];

/** The data of a message's memo instructions, in order. */
export const memosIn = ({ staticAccounts, instructions }: Message): readonly Buffer[] =>
  instructions
    .filter(({ programAddressIndex }) => MEMOS.includes(staticAccounts[programAddressIndex] ?? ''))
    .map(({ data }) => Buffer.from(data ?? []));
