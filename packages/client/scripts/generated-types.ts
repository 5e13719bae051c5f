import { openApiDocument, OPERATIONS } from '@pf/contracts/openapi';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

/** The types of the OpenAPI document, as they lie in src/generated. */
export async function generatedTypes(): Promise<string> {
  const document = openApiDocument(Object.values(OPERATIONS), '/v1') as unknown as OpenAPI3;
  const types = astToString(await openapiTS(document, { immutable: true, alphabetize: false }));
  return `// Written by \`pnpm --filter @pf/client generate\` from the OpenAPI document.\n${types}`;
}
