// Compiles the contracts into JSON files beside them: `pnpm --filter @pf/testing contracts`. The results are committed,
// so that a start needs no compiler; a test compiles again and compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import solc from 'solc';

const CONTRACTS = ['Stablecoin', 'Delegate', 'Puppet'];
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** @returns {{ abi: object[], bytecode: string }} the interface and the code as it lies on chain (0x hex) */
export function compile(contract) {
  const file = `${contract}.sol`;
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { [file]: { content: readFileSync(here(file), 'utf8') } },
        settings: {
          optimizer: { enabled: true, runs: 200 },
          evmVersion: 'shanghai',
          metadata: { bytecodeHash: 'none', appendCBOR: false },
          outputSelection: { [file]: { [contract]: ['abi', 'evm.deployedBytecode.object'] } },
        },
      }),
    ),
  );
  if (output.errors?.length) throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'));
  const { abi, evm } = output.contracts[file][contract];
  return { abi, bytecode: `0x${evm.deployedBytecode.object}` };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const contract of CONTRACTS)
    writeFileSync(here(`${contract}.json`), `${JSON.stringify(compile(contract), null, 1)}\n`);
}
