// Takes from this process everything that decoding an image does not need, by a seccomp filter: the kernel then lets it use memory and
// threads, and read and write what is already open. It can't open a file, connect, start a program, or signal or inspect another
// process. Nothing that runs in it can undo that, native code included.
//
// - Whatever it needs has to be loaded before.
// - It must end by `exit`: the end that Node.js has in order registers files with the kernel.
// - A call that is not allowed fails with EPERM, so that a library that can do without it does.
// - The kernel is called by node:ffi, which is experimental and missing in older releases of Node.js.

/** The numbers of a system call on x64 and on arm64; undefined where there is none. */
type Call = readonly [x64: number, arm64: number | undefined];

/** What V8, libuv, the C library and libvips use from the first byte of an image to the exit. */
const allowed = {
  read: [0, 63],
  write: [1, 64],
  writev: [20, 66],
  close: [3, 57],
  fstat: [5, 80],
  lseek: [8, 62],
  brk: [12, 214],
  mmap: [9, 222],
  munmap: [11, 215],
  mprotect: [10, 226],
  pkey_mprotect: [329, 288],
  mremap: [25, 216],
  madvise: [28, 233],
  futex: [202, 98],
  set_robust_list: [273, 99],
  rseq: [334, 293],
  membarrier: [324, 283],
  rt_sigaction: [13, 134],
  rt_sigprocmask: [14, 135],
  rt_sigreturn: [15, 139],
  sigaltstack: [131, 132],
  restart_syscall: [219, 128],
  sched_yield: [24, 124],
  sched_getaffinity: [204, 123],
  sched_getparam: [143, 121],
  sched_getscheduler: [145, 120],
  getpid: [39, 172],
  gettid: [186, 178],
  getrusage: [98, 165],
  getrandom: [318, 278],
  clock_gettime: [228, 113],
  clock_getres: [229, 114],
  clock_nanosleep: [230, 115],
  nanosleep: [35, 101],
  gettimeofday: [96, 169],
  epoll_wait: [232, undefined],
  epoll_pwait: [281, 22],
  epoll_ctl: [233, 21],
  poll: [7, undefined],
  ppoll: [271, 73],
  exit: [60, 93],
  exit_group: [231, 94],
} as const satisfies Record<string, Call>;

/** Allowed with some arguments only. */
const restricted = { clone: [56, 220], clone3: [435, 435], tgkill: [234, 131], fcntl: [72, 25] } as const satisfies Record<string, Call>;

const seccomp: Call = [317, 277];
const architectures = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;
type Architecture = keyof typeof architectures;

// From linux/prctl.h, seccomp.h, bpf_common.h, sched.h and fcntl.h.
const prSetNoNewPrivs = 38;
const seccompSetModeFilter = 1n;
const seccompFilterFlagTsync = 1n;
const [retAllow, retErrno, retKillProcess] = [0x7fff_0000, 0x0005_0000, 0x8000_0000];
const [load, jumpIfEqual, jumpIfAnyBit, end] = [0x20, 0x15, 0x45, 0x06];
const at = { call: 0, architecture: 4, argument0: 16, argument1: 24 };
const cloneThread = 0x0001_0000;
const [fGetFl, fSetFl] = [3, 4];
const [ePerm, eNoSys] = [1, 38];
const instructionBytes = 8;

export interface Sandbox {
  /** Ends the process at once. */
  exit(status: number): never;
}

/** For the rest of the life of this process, and for all its threads. Undefined if this system or this Node.js can't. */
export function enterSandbox(): Sandbox | undefined {
  const { platform, arch } = process;
  const kernel = platform === 'linux' && (arch === 'x64' || arch === 'arm64') ? openKernel() : undefined;
  if (!kernel) return undefined;
  const filter = makeFilter(arch as Architecture, process.pid);
  const program = Buffer.alloc(16);
  program.writeUInt16LE(filter.length / instructionBytes, 0);
  program.writeBigUInt64LE(kernel.pointerTo(filter), 8);
  // The kernel takes a filter without any right from a process that can't gain rights.
  if (kernel.prctl(prSetNoNewPrivs, 1n, 0n, 0n, 0n) !== 0) return undefined;
  const number = BigInt(numberOn(arch as Architecture, seccomp) ?? 0);
  const failed = kernel.syscall(number, seccompSetModeFilter, seccompFilterFlagTsync, kernel.pointerTo(program));
  return failed === 0n ? { exit: (status) => kernel._exit(status) } : undefined;
}

/** A program for the kernel's virtual machine, which runs it at each system call. */
function makeFilter(architecture: Architecture, pid: number): Buffer {
  const on = (call: Call) => numberOn(architecture, call);
  const allow = instruction(end, retAllow);
  const fail = (errno: number) => instruction(end, retErrno | errno);
  /** Does this if it is the call, else goes on after it. */
  const ifCall = (call: Call, ...then: Buffer[]) => {
    const number = on(call);
    return number === undefined ? [] : [instruction(jumpIfEqual, number, 0, then.length), ...then];
  };
  return Buffer.concat([
    instruction(load, at.architecture),
    instruction(jumpIfEqual, architectures[architecture], 1, 0),
    instruction(end, retKillProcess),
    instruction(load, at.call),
    ...Object.values(allowed).flatMap((call) => ifCall(call, allow)),
    // Threads, but no processes.
    ...ifCall(restricted.clone, instruction(load, at.argument0), instruction(jumpIfAnyBit, cloneThread, 0, 1), allow, fail(ePerm)),
    // Its arguments are in memory, where a filter can't see them. As it does not exist, the C library uses `clone`.
    ...ifCall(restricted.clone3, fail(eNoSys)),
    // To itself: that is how a program aborts.
    ...ifCall(restricted.tgkill, instruction(load, at.argument0), instruction(jumpIfEqual, pid, 0, 1), allow, fail(ePerm)),
    // Node.js restores the flags of standard input and output at its end.
    ...ifCall(
      restricted.fcntl,
      instruction(load, at.argument1),
      instruction(jumpIfEqual, fGetFl, 1, 0),
      instruction(jumpIfEqual, fSetFl, 0, 1),
      allow,
      fail(ePerm),
    ),
    fail(ePerm),
  ]);
}

const numberOn = (architecture: Architecture, [x64, arm64]: Call) => (architecture === 'x64' ? x64 : arm64);

/** A `struct sock_filter`. The jumps count the instructions that are left out. */
function instruction(code: number, value: number, ifTrue = 0, ifFalse = 0): Buffer {
  const bytes = Buffer.alloc(instructionBytes);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}

interface Kernel {
  prctl(option: number, ...args: [bigint, bigint, bigint, bigint]): number;
  syscall(number: bigint, ...args: [bigint, bigint, bigint]): bigint;
  _exit(status: number): never;
  pointerTo(bytes: Buffer): bigint;
}

/** The part of node:ffi that is used here. */
interface Ffi {
  dlopen(library: null, functions: object): { functions: Omit<Kernel, 'pointerTo'> };
  getRawPointer(bytes: Buffer): bigint;
}

function openKernel(): Kernel | undefined {
  const ffi = process.getBuiltinModule('node:ffi') as unknown as Ffi | undefined;
  if (!ffi) return undefined;
  const { functions } = ffi.dlopen(null, {
    prctl: { arguments: ['i32', 'u64', 'u64', 'u64', 'u64'], return: 'i32' },
    syscall: { arguments: ['i64', 'i64', 'i64', 'i64'], return: 'i64' },
    _exit: { arguments: ['i32'], return: 'void' },
  });
  return { ...functions, pointerTo: (bytes) => ffi.getRawPointer(bytes) };
}
