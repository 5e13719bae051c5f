import { readFileSync } from 'node:fs';
import type { ChainId } from '@pf/domain';
import { upstreamAt, type UpstreamSettings, upstreamSchema } from '@pf/rpc';
import { ConfigurationError, variables } from '@pf/runtime';
import { z } from 'zod';
import { networks, type UpstreamVariable } from './networks.ts';
import { whyNotServed } from './upstream-needs.ts';

/** The upstreams of each network by its name, in order of preference. */
const upstreamsByName = z.strictObject(
  Object.fromEntries(networks.map(({ name }) => [name, z.array(upstreamSchema).min(1).optional()])),
);
type UpstreamsByName = Readonly<Record<string, readonly UpstreamSettings[] | undefined>>;

/** RPC_CONFIG: a JSON file by its path, or its text. */
const rpcConfig = z.string().transform((text, context): UpstreamsByName => {
  const fail = (message: string): typeof z.NEVER => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  let json: unknown;
  try {
    json = JSON.parse(text.trimStart().startsWith('{') ? text : readFileSync(text, 'utf8'));
  } catch {
    // The error of the parser may quote a key.
    return fail('must be JSON, or the path of a JSON file that can be read (docs/operations/providers.md)');
  }
  const parsed = upstreamsByName.safeParse(json);
  if (parsed.success) return parsed.data;
  return fail(parsed.error.issues.map(({ path, message }) => `${z.core.toDotPath(path)}: ${message}`).join('; '));
});

const urls = variables.urls.optional();
/**
 * The variables that name the upstreams of each network: for loadConfig. A network without any is not served.
 */
export const upstreamVariables: Readonly<Record<UpstreamVariable, typeof urls>> & {
  readonly RPC_CONFIG: z.ZodOptional<typeof rpcConfig>;
} = {
  ...(Object.fromEntries(networks.map(({ upstreamVariable }) => [upstreamVariable, urls])) as Record<
    UpstreamVariable,
    typeof urls
  >),
  RPC_CONFIG: rpcConfig.optional(),
};

/**
 * What createChains takes, from a configuration that has `upstreamVariables`.
 * @throws ConfigurationError where a network has upstreams in both places, or none with a method that it needs
 */
export function upstreamsOf({
  RPC_CONFIG: configured = {},
  ...config
}: Readonly<Partial<Record<UpstreamVariable, readonly string[] | undefined>>> & {
  readonly RPC_CONFIG?: UpstreamsByName | undefined;
}): ReadonlyMap<ChainId, readonly UpstreamSettings[]> {
  return new Map(
    networks.flatMap((network): [ChainId, readonly UpstreamSettings[]][] => {
      const { chain, name, upstreamVariable } = network;
      const [listed, upstreams] = [config[upstreamVariable], configured[name]];
      if (listed !== undefined && upstreams !== undefined)
        throw new ConfigurationError(
          `The configuration is invalid:\n  ${upstreamVariable}: RPC_CONFIG has upstreams of ${name} too: remove one`,
        );
      const found = upstreams ?? listed?.map(upstreamAt);
      if (found === undefined) return [];
      const problem = whyNotServed(network, found);
      if (problem !== null) throw new ConfigurationError(`The configuration is invalid:\n  RPC_CONFIG: ${problem}`);
      return [[chain, found]];
    }),
  );
}
