// Compiles Stablecoin.sol into Stablecoin.json: `pnpm --filter @pf/testing contracts`. The result is committed, so that
// a start needs no compiler; a test compiles again and compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import solc from 'solc';

const file = 'Stablecoin.sol';
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** @returns {{ abi: object[], bytecode: string }} the interface and the code as it lies on chain (0x hex) */
export function compile() {
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { [file]: { content: readFileSync(here(file), 'utf8') } },
        settings: {
          optimizer: { enabled: true, runs: 200 },
          evmVersion: 'shanghai',
          metadata: { bytecodeHash: 'none', appendCBOR: false },
          outputSelection: { [file]: { Stablecoin: ['abi', 'evm.deployedBytecode.object'] } },
        },
      }),
    ),
  );
  if (output.errors?.length) throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'));
  const { abi, evm } = output.contracts[file].Stablecoin;
  return { abi, bytecode: `0x${evm.deployedBytecode.object}` };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(here('Stablecoin.json'), `${JSON.stringify(compile(), null, 1)}\n`);
}
