import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** How a name server answers: an IPv4 address, with an error, or not at all. */
export type NameAnswer = { readonly address: string; readonly ttl: number } | 'absent' | 'failing' | 'silent';

/** A name server (RFC 1035) on loopback, which answers as the test says. */
export interface NameServer {
  /** For `Resolver.setServers`. */
  readonly address: string;
  /** The names that it was asked for, once for each question. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const HEADER_BYTES = 12;
const TYPE_A = 1;
const NO_ERROR = 0;
const SERVER_FAILURE = 2;
const NAME_ERROR = 3;

/** @param answer called for each question, with the name in lower case */
export async function startNameServer(answer: (name: string) => NameAnswer): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end, type } = readQuestion(query);
    asked.push(name);
    const found = answer(name);
    if (found === 'silent') return;
    const address = typeof found === 'object' && type === TYPE_A ? found : null;
    const code = found === 'absent' ? NAME_ERROR : found === 'failing' ? SERVER_FAILURE : NO_ERROR;
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    // A response, recursion desired and available.
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(address ? 1 : 0, 6);
    const parts = [header, query.subarray(HEADER_BYTES, end)];
    if (address) {
      const record = Buffer.alloc(16);
      // A pointer to the name in the question.
      record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
      record.writeUInt16BE(TYPE_A, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt32BE(address.ttl, 6);
      record.writeUInt16BE(4, 10);
      for (const [index, octet] of address.address.split('.').entries()) record[12 + index] = Number(octet);
      parts.push(record);
    }
    socket.send(Buffer.concat(parts), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** The first question of a query, and where it ends. */
function readQuestion(query: Buffer): { readonly name: string; readonly end: number; readonly type: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5, type: query.readUInt16BE(at + 1) };
}
