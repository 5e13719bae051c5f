import type { RpcNode } from '@pf/rpc';

/**
 * Which upstream has read the blocks that are not read a second time yet, by its name. Null: several have, or it is not
 * known. A second reading by the same upstream would leave out the same again.
 */
export type FirstReader = string | null;

/** After an upstream has read further blocks. @param all whether none before these waits for its second reading */
export const firstReaderAfter = (before: FirstReader, node: RpcNode, all: boolean): FirstReader =>
  all || before === node.name ? node.name : null;
