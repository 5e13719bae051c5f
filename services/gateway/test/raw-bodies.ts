/** Bodies that every endpoint refuses, with the error of the response. */
export interface RawBody {
  readonly name: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly type?: string;
  readonly refused: readonly [status: number, code: string, param: string | null];
}

export const RAW_BODIES: readonly RawBody[] = [
  { name: 'a truncated body', body: '{"updatedAt":"2026-', refused: [400, 'request.malformed_json', null] },
  {
    name: 'a body that is not UTF-8',
    body: Uint8Array.of(0x7b, 0xff, 0x7d),
    refused: [400, 'request.malformed_json', null],
  },
  { name: 'an array', body: '[]', refused: [400, 'request.validation_failed', null] },
  { name: 'a string', body: '"x"', refused: [400, 'request.validation_failed', null] },
  { name: 'null', body: 'null', refused: [400, 'request.validation_failed', null] },
  { name: 'an unknown field', body: '{"reason":"x"}', refused: [400, 'request.validation_failed', 'reason'] },
  {
    name: 'an unknown field twice',
    body: '{"reason":"x","reason":"y"}',
    refused: [400, 'request.validation_failed', 'reason'],
  },
  {
    name: 'a __proto__ field',
    body: '{"__proto__":{"livemode":true}}',
    refused: [400, 'request.validation_failed', '__proto__'],
  },
  {
    name: 'a constructor field',
    body: '{"constructor":{"prototype":{"x":1}}}',
    refused: [400, 'request.validation_failed', 'constructor'],
  },
  {
    name: 'a body nested 30,000 deep',
    body: `{"metadata":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
    refused: [400, 'request.validation_failed', 'metadata'],
  },
  { name: '60,000 opening brackets', body: '['.repeat(60_000), refused: [400, 'request.validation_failed', null] },
  { name: 'plain text', body: '{}', type: 'text/plain', refused: [415, 'request.unsupported_media_type', null] },
  {
    name: 'a form',
    body: 'a=b',
    type: 'application/x-www-form-urlencoded',
    refused: [415, 'request.unsupported_media_type', null],
  },
  {
    name: 'another charset',
    body: '{}',
    type: 'application/json; charset=latin1',
    refused: [415, 'request.unsupported_media_type', null],
  },
  {
    name: 'a body of more than 64 KiB',
    body: `{"x":"${'x'.repeat(65_536)}"}`,
    refused: [413, 'request.too_large', null],
  },
];
