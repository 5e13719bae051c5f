import { type Operation, OPERATIONS } from '@pf/contracts';
import { openApiDocument } from '@pf/contracts/openapi';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

type Document = ReturnType<typeof openApiDocument>;

/** The types of the OpenAPI document's components, and of the queries of its lists, as they lie in src/generated. */
export async function generatedTypes(): Promise<string> {
  const document = openApiDocument(Object.values(OPERATIONS), '/v1');
  const schemas = {
    ...document.components?.schemas,
    ListIntentsQuery: queryOf(document, OPERATIONS.listIntents),
    ListDeliveriesQuery: queryOf(document, OPERATIONS.listDeliveries),
  };
  const types = await openapiTS(
    { openapi: '3.1.0', info: document.info, paths: {}, components: { schemas } } as unknown as OpenAPI3,
    { immutable: true, defaultNonNullable: false },
  );
  return `// Written by \`pnpm --filter @pf/client generate\` from the OpenAPI document.\n${astToString(types)}`;
}

/** The query parameters of an operation as one object. */
function queryOf(document: Document, { path, method }: Operation): object {
  const parameters = document.paths?.[path]?.[method]?.parameters ?? [];
  const properties = parameters.flatMap((parameter) =>
    'in' in parameter && parameter.in === 'query'
      ? [[parameter.name, { ...(parameter.schema as object), description: parameter.description }] as const]
      : [],
  );
  return { type: 'object', properties: Object.fromEntries(properties) };
}
