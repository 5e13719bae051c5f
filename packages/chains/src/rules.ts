import { type RpcNode, type RpcPoolOptions, RpcUpstreamError } from '@pf/rpc';
import type { Logger } from '@pf/runtime';

/** The rules that a network runs, as a node tells them. */
export interface Rules {
  /** `T12`, `Alpenglow`; null where it does not tell. */
  readonly name: string | null;
  /** Upgrades that this version does not know: what they are, and since or from when. */
  readonly unknown: readonly string[];
}
export const UNTOLD_RULES: Rules = { name: null, unknown: [] };

/** Of a family: what reads them. */
interface RulesReader {
  rules(node: RpcNode): Promise<Rules>;
}

/** What this node tells, if it does: it is asked for nothing else's sake. */
export async function rulesOf(family: RulesReader, node: RpcNode): Promise<Rules> {
  try {
    return await family.rules(node);
  } catch (error) {
    if (error instanceof RpcUpstreamError) return UNTOLD_RULES;
    throw error;
  }
}

/** For RpcPool: the same identification, which warns of rules that this version does not know. */
export function warningOfRules(
  identify: RpcPoolOptions['identify'],
  family: RulesReader,
  network: string,
  log: Pick<Logger, 'warn'>,
): RpcPoolOptions['identify'] {
  let warned = '';
  return async (node) => {
    const problem = await identify(node);
    if (problem !== null) return problem;
    const { unknown } = await rulesOf(family, node);
    const said = unknown.join(', ');
    if (said !== '' && said !== warned)
      log.warn(
        { network, upstream: node.name, unknown },
        'the network has rules that this version does not know: read what they change (docs/operations/networks.md)',
      );
    warned = said;
    return null;
  };
}
