import { AsyncLocalStorage } from 'node:async_hooks';

/** Whose connections work takes. */
export interface Owner {
  /** No two owners share it: such as an account's id and the mode. */
  readonly name: string;
  /** Who of the owner asks, by a name that no two members of it share: a key, a person or an address. */
  readonly member: string;
}

/** For whom the present work is done; undefined: for no one of them. */
const owners = new AsyncLocalStorage<Owner | undefined>();

/**
 * Does the work of one owner: the connections that it takes of a share count as the owner's and
 * the member's (share.ts).
 */
export const forOwner = <Result>(owner: Owner, work: () => Result): Result => owners.run(owner, work);

/** Does work for all owners, where the request of one of them begins it. */
export const forAll = <Result>(work: () => Result): Result => owners.run(undefined, work);

/** Whose work this is. */
export const ownerNow = (): Owner | undefined => owners.getStore();

/** An owner has as many connections as it may, and none became free in time: this query was not sent. */
export class OwnerBusyError extends Error {
  constructor() {
    super('this owner has as many connections to the database as it may');
    this.name = 'OwnerBusyError';
  }
}
