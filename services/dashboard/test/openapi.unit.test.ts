import { describe, expect, it } from '@jest/globals';
import { DASHBOARD_OPERATIONS, dashboardDocument } from '@pf/contracts/dashboard';
import { Validator } from '@seriousme/openapi-schema-validator';

describe("the dashboard's OpenAPI document", () => {
  it('is valid, and has every operation', async () => {
    const document = dashboardDocument(Object.values(DASHBOARD_OPERATIONS), '/api');
    expect(await new Validator().validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>)).toEqual({
      valid: true,
    });
    const ids = Object.values(document.paths ?? {}).flatMap((methods) =>
      Object.values(methods as Record<string, { readonly operationId: string }>).map(({ operationId }) => operationId),
    );
    expect(ids.sort()).toEqual(Object.keys(DASHBOARD_OPERATIONS).sort());
  });
});
