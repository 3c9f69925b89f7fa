// What somebody would try who has taken over the process that decodes an image: to find secrets, to read the files of the store, and
// to reach its servers. It runs in the place of the decoder, with all that the deployment and the process itself take away, and calls
// the C library directly, as native code would. Without imports: it is also put into containers.

export interface Targets {
  /** A text that is in the environment of the worker, such as a password. */
  readonly secret: string;
  readonly photos: string;
  readonly journal: string;
  readonly secretFiles: readonly string[];
  readonly settingsFiles: readonly string[];
  /** Addresses of IPv4 with a port. */
  readonly postgres: string;
  readonly redis: string;
  readonly outside: string;
  /** The address and port of a name server, and a name to ask it for. */
  readonly nameServer: string;
  readonly name: string;
  /** Unix sockets of servers. */
  readonly sockets: readonly string[];
}

interface CLibrary {
  socket(family: number, type: number, protocol: number): number;
  setsockopt(fd: number, level: number, option: number, value: bigint, length: number): number;
  connect(fd: number, address: bigint, length: number): number;
  send(fd: number, bytes: bigint, length: bigint, flags: number): bigint;
  recv(fd: number, bytes: bigint, length: bigint, flags: number): bigint;
}

interface Ffi {
  dlopen(library: null, functions: object): { functions: CLibrary };
  getRawPointer(bytes: Buffer): bigint;
}

const ffi = process.getBuiltinModule('node:ffi') as unknown as Ffi;
const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs');
const c = ffi.dlopen(null, {
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  setsockopt: { arguments: ['i32', 'i32', 'i32', 'u64', 'u32'], return: 'i32' },
  connect: { arguments: ['i32', 'u64', 'u32'], return: 'i32' },
  send: { arguments: ['i32', 'u64', 'u64', 'i32'], return: 'i64' },
  recv: { arguments: ['i32', 'u64', 'u64', 'i32'], return: 'i64' },
}).functions;

/** Returns the numbers, from 1, of the attempts that succeed: hostile-decoder.ts has their names. */
export function attemptAll(targets: Targets): number[] {
  const has = (file: string) => readFileSync(file).includes(targets.secret);
  const attempts: ReadonlyArray<() => boolean> = [
    () => JSON.stringify(process.env).includes(targets.secret),
    () => has(`/proc/${process.ppid}/environ`),
    () => processes().some((pid) => succeeds(() => has(`/proc/${pid}/environ`))),
    () => readdirSync(targets.photos).length > 0,
    () => readFileSync(targets.journal).length > 0,
    () => targets.secretFiles.some((file) => succeeds(() => readFileSync(file).length > 0)),
    () => targets.settingsFiles.some((file) => succeeds(() => readFileSync(file).length > 0)),
    () => reachesTcp(targets.postgres),
    () => reachesTcp(targets.redis),
    () => reachesTcp(targets.outside),
    () => resolves(targets),
    () => targets.sockets.some(reachesUnix),
  ];
  return attempts.flatMap((attempt, i) => (succeeds(attempt) ? [i + 1] : []));
}

const processes = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

function succeeds(attempt: () => boolean): boolean {
  try {
    return attempt();
  } catch {
    return false;
  }
}

const [unix, internet, stream, datagram] = [1, 2, 1, 2];
/** SOL_SOCKET, SO_RCVTIMEO, SO_SNDTIMEO. */
const [socketLevel, receiveTimeout, sendTimeout] = [1, 20, 21];
const timeoutSeconds = 2n;

const reachesTcp = (address: string) => connectTo(internet, stream, internetAddress(address)) !== undefined;

function reachesUnix(file: string): boolean {
  const address = Buffer.alloc(110);
  address.writeUInt16LE(unix, 0);
  address.write(file, 2);
  return connectTo(unix, stream, address) !== undefined;
}

/** Asks for the address of the name. Any response counts. */
function resolves({ nameServer, name }: Targets): boolean {
  const fd = connectTo(internet, datagram, internetAddress(nameServer));
  if (fd === undefined) return false;
  const head = Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const labels = name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  const query = Buffer.concat([head, ...labels, Buffer.from([0, 0, 1, 0, 1])]);
  c.send(fd, ffi.getRawPointer(query), BigInt(query.length), 0);
  const response = Buffer.alloc(512);
  return c.recv(fd, ffi.getRawPointer(response), BigInt(response.length), 0) > 0n;
}

function internetAddress(text: string): Buffer {
  const [host = '', port] = text.split(':');
  const address = Buffer.alloc(16);
  address.writeUInt16LE(internet, 0);
  address.writeUInt16BE(Number(port), 2);
  for (const [i, part] of host.split('.').entries()) address.writeUInt8(Number(part), 4 + i);
  return address;
}

/** Undefined if it can't be reached in time. */
function connectTo(family: number, type: number, address: Buffer): number | undefined {
  const fd = c.socket(family, type, 0);
  if (fd < 0) return undefined;
  const timeout = Buffer.alloc(16);
  timeout.writeBigUInt64LE(timeoutSeconds, 0);
  for (const option of [receiveTimeout, sendTimeout]) c.setsockopt(fd, socketLevel, option, ffi.getRawPointer(timeout), timeout.length);
  return c.connect(fd, ffi.getRawPointer(address), address.length) === 0 ? fd : undefined;
}
