import { AsyncLocalStorage } from 'node:async_hooks';

/** For whom the present work is done; undefined: for no one of them. */
const owners = new AsyncLocalStorage<string | undefined>();

/**
 * Does the work of one owner: the connections that it takes of a share count as the owner's (share.ts).
 * @param owner a name that no two owners share, such as an account's id and the mode
 */
export const forOwner = <Result>(owner: string, work: () => Result): Result => owners.run(owner, work);

/** Does work for all owners, where the request of one of them begins it. */
export const forAll = <Result>(work: () => Result): Result => owners.run(undefined, work);

/** Whose work this is. */
export const ownerNow = (): string | undefined => owners.getStore();

/** An owner has as many connections as it may, and none became free in time: this query was not sent. */
export class OwnerBusyError extends Error {
  constructor() {
    super('this owner has as many connections to the database as it may');
    this.name = 'OwnerBusyError';
  }
}
