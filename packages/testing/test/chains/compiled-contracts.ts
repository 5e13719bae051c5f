import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const FOLDER = path.join(import.meta.dirname, '../../contracts');
const CONTRACTS = ['Stablecoin', 'Delegate', 'Puppet'];

const outputSchema = z.object({
  errors: z.array(z.object({ formattedMessage: z.string() })).default([]),
  contracts: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({ abi: z.array(z.unknown()), evm: z.object({ deployedBytecode: z.object({ object: z.string() }) }) }),
      ),
    )
    .default({}),
});

/**
 * The JSON of a contract: its interface, and its code as it lies on chain (0x hex).
 * @throws Error with what the compiler says, warnings too
 */
async function compiled(contract: string): Promise<string> {
  const { default: solc } = (await import('solc')) as unknown as { default: { compile: (input: string) => string } };
  const file = `${contract}.sol`;
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: await readFile(path.join(FOLDER, file), 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'shanghai',
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { [file]: { [contract]: ['abi', 'evm.deployedBytecode.object'] } },
    },
  };
  const { errors, contracts } = outputSchema.parse(JSON.parse(solc.compile(JSON.stringify(input))));
  const output = contracts[file]?.[contract];
  if (errors.length > 0 || output === undefined)
    throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n') || `${file} has no ${contract}`);
  const { abi, evm } = output;
  return `${JSON.stringify({ abi, bytecode: `0x${evm.deployedBytecode.object}` }, null, 1)}\n`;
}

/** Makers of the compiled contracts, which a start then needs no compiler for, by their paths from the root. */
export const CONTRACT_FILES: Readonly<Record<string, () => Promise<string>>> = Object.fromEntries(
  CONTRACTS.map((contract) => [`packages/testing/contracts/${contract}.json`, () => compiled(contract)]),
);
