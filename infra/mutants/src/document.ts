import { writeGuardList } from './guard-list.ts';

/** Writes the list of guards into docs/internals/reliability.md, without trying them. */
await writeGuardList();
