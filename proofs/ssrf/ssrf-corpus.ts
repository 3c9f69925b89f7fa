// Addresses that a webhook must not reach, each in the notations that a URL allows.

/** First and last address of each range that is not on the public internet. */
const ranges4: ReadonlyArray<readonly [string, string]> = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
];

const hosts6 = ['[::]', '[::1]', '[fc00::1]', '[fdab::1]', '[fe80::1]', '[fec0::1]', '[ff02::1]', '[100::1]', '[2001::1]', '[2001:db8::1]'];

/** Hosts that all lead to this machine: a connection to any of them would reach a listener. */
export const loopbackHosts = [
  '127.0.0.1',
  '127.1',
  '127.8.8.8',
  '0',
  '0.0.0.0',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '017700000001',
  '0177.0.0.01',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:0:0:1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  '①②⑦.⓪.⓪.①',
];

/** At least `count` hosts, including the first and last address of every range. */
export function privateHosts(count: number): string[] {
  const hosts = [...hosts6];
  for (const [first, last] of ranges4) for (const address of [first, last]) hosts.push(...notations(toNumber(address)));
  while (hosts.length < count) {
    const [first, last] = ranges4[Math.floor(Math.random() * ranges4.length)] ?? ['', ''];
    const [low, high] = [toNumber(first), toNumber(last)];
    hosts.push(...notations(low + Math.floor(Math.random() * (high - low + 1))));
  }
  return hosts;
}

/** Addresses as a resolver may return them. */
export const privateAddresses = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const [first, last] = ranges4[i % ranges4.length] ?? ['', ''];
    const dotted = toDotted(toNumber(i % 2 ? first : last));
    return [dotted, `::ffff:${dotted}`, `64:ff9b::${dotted}`, `::${dotted}`][i % 4] ?? dotted;
  });

function notations(value: number): string[] {
  const dotted = toDotted(value);
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  const [high, low] = [(value >>> 16).toString(16), (value & 0xffff).toString(16)];
  return [
    dotted,
    String(value),
    `0x${value.toString(16)}`,
    `0${value.toString(8)}`,
    `0${a.toString(8)}.0${b.toString(8)}.0${c.toString(8)}.0${d.toString(8)}`,
    `0x${a.toString(16)}.${value & 0xffffff}`,
    `${a}.${b}.${(c << 8) + d}`,
    `[::ffff:${dotted}]`,
    `[::ffff:${high}:${low}]`,
    `[::${high}:${low}]`,
    `[64:ff9b::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
    `[2001:0:${high}:${low}::1]`,
  ];
}

const toNumber = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const toDotted = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
