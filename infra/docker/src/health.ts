import { connect } from 'node:net';

/** Less than the 3 s that the Dockerfile's HEALTHCHECK allows. */
const TIMEOUT_MS = 2_000;
const LIVE = /^HTTP\/1\.1 200 /;

// Twice a minute beside every service: an HTTP client would take twice as much CPU as all the rest of this process. The
// image sets the port, and the service that listens there has checked it.
const socket = connect(Number(process.env['HEALTH_PORT']), '127.0.0.1');
process.exitCode = 1;
socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
socket.once('data', (response) => {
  if (LIVE.test(response.toString('latin1'))) process.exitCode = 0;
  socket.destroy();
});
// Nothing listens, or it closes the connection: not live.
socket.on('error', () => socket.destroy());
socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
