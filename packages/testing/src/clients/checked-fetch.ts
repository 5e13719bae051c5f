import { checkAgainstContract } from './contract.ts';

/**
 * A `fetch` for clients of the API that checks each response against the contract, as `apiClient` does.
 * @param baseUrl with `/v1`
 */
export function checkedFetch(baseUrl: string): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const response = await fetch(request);
    if (!request.url.startsWith(baseUrl) || response.headers.get('content-type')?.startsWith('text/event-stream'))
      return response;
    const body: unknown = await response.clone().json();
    checkAgainstContract({
      method: request.method,
      path: request.url.slice(baseUrl.length),
      status: response.status,
      body,
    });
    return response;
  };
}
