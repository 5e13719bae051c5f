import { type ApiResponse, until } from '@pf/testing';

const WAIT_MS = 60_000;

/** Repeats a request while it returns 503: the service is busy, or no node shows the transaction yet. */
export const whileBusy = <Body>(what: string, request: () => Promise<ApiResponse<Body>>): Promise<ApiResponse<Body>> =>
  until(
    what,
    async () => {
      const response = await request();
      return response.status !== 503 && response;
    },
    WAIT_MS,
  );

/** Its status and the code of its error. */
export const summaryOf = ({ status, body }: ApiResponse<unknown>): readonly [number, string | undefined] => [
  status,
  (body as { error?: { code: string } }).error?.code,
];
