// For the scripts that try a deployment: servers that somebody might want to reach. Prints their addresses, and listens until it is
// killed.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

const listen = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const names = createSocket('udp4').on('message', (query, { port }) => names.send(query, port, '127.0.0.1'));
names.bind(0, '127.0.0.1');
await once(names, 'listening');
const nameServer = `127.0.0.1:${names.address().port}`;
console.log(
  JSON.stringify({ postgres: await listen(), redis: await listen(), outside: await listen(), nameServer, name: 'shelter.example' }),
);
