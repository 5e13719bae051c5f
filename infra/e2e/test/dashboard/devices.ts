import { readStack } from '@pf/testing';
import { z } from 'zod';

const begun = z.object({ deviceCode: z.string(), userCode: z.string(), verificationUrlComplete: z.string() });
const polled = z.object({ secret: z.string().optional(), error: z.object({ code: z.string() }).optional() });

async function post(path: string, body: object): Promise<unknown> {
  const response = await fetch(`${readStack().dashboard.url}/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

/** Asks for a token, as a program does. */
export const beginDevice = async (clientName: string) => begun.parse(await post('/device/code', { clientName }));

/** The token, or why there is none. */
export const pollDevice = async (deviceCode: string) => polled.parse(await post('/device/token', { deviceCode }));
