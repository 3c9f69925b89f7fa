import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Longer than any address with zone, brackets and port. Longer texts are not parsed. */
const textLengthMax = 100;
/** Three forms: in brackets, with an optional port; without colons, with an optional port; or a bare IPv6 address. */
const spelling = /^(?:\[([^\]%]*)(?:%[^\]]*)?\](?::\d{1,5})?|([^:%]*)(?::\d{1,5})?|([^%]*)(?:%.*)?)$/;
/** If there is no address at all: the connection is already closed. */
const noAddress = 'a0.0.0.0';

/**
 * The subject that a request without a key is counted against. A hop that is not an address ("unknown", "_hidden") counts
 * as the proxy that wrote it: otherwise each invented text would get its own budget.
 */
export function requestSubject({ ip, ips = [ip] }: { readonly ip: string; readonly ips?: readonly string[] }): string {
  for (let hop = ips.length - 1; hop >= 0; hop -= 1) {
    const subject = subjectOf(ips[hop]);
    if (subject !== undefined) return subject;
  }
  return noAddress;
}

/** Like `requestSubject`, for the peer of a connection. */
export const addressSubject = (text: string | undefined): string => subjectOf(text) ?? noAddress;

/**
 * The network of a subject: IPv4 by /24, IPv6 by /48. These are the smallest blocks that are routed on the internet, so
 * even someone with many addresses usually has them in few networks.
 */
export function networkOf(subject: string): string {
  const separator = subject.includes(':') ? ':' : '.';
  return subject.split(separator, 3).join(separator);
}

/** Returns a function that says whether a hop, in any notation, is one of the trusted addresses or CIDR ranges. */
export function trustsProxies(proxies: readonly string[]): (hop: string) => boolean {
  const ranges = proxies.map(parseRange);
  return (hop) => {
    const address = parseAddress(hop);
    return address !== undefined && ranges.some((range) => isWithin(address, range));
  };
}

/** IPv4 by address, IPv6 by /64: a subscriber usually gets a whole /64. */
function subjectOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (isIPv4(text)) return `a${text}`;
  const address = parseAddress(text);
  if (!(address instanceof ipaddr.IPv6)) return address && `a${address}`;
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `a${groups.join(':')}::/64`;
}

/** An IPv4-mapped IPv6 address becomes the IPv4 address. */
function parseAddress(text: string | undefined): Address | undefined {
  if (text === undefined || text.length > textLengthMax) return undefined;
  const [, bracketed, beforePort, bare] = spelling.exec(text.trim()) ?? [];
  const address = bracketed ?? beforePort ?? bare ?? '';
  // Stricter than ipaddr.js, which accepts "1" and "0x7f.1" as addresses.
  return isIP(address) === 0 ? undefined : ipaddr.process(address);
}

/** An IPv4-mapped IPv6 range becomes the IPv4 range. One that extends beyond IPv4 matches only native IPv6 addresses. */
function parseRange(text: string): [Address, number] {
  const [written = '', bits] = text.split('/', 2);
  const address = parseAddress(written);
  if (!address) throw new TypeError(`"${text}" is not an address or a CIDR range`);
  if (bits === undefined) return [address, address.kind() === 'ipv4' ? 32 : 128];
  const isMapped = address.kind() === 'ipv4' && written.includes(':');
  if (!isMapped) return [address, Number(bits)];
  return Number(bits) < 96 ? [ipaddr.parse(written), Number(bits)] : [address, Number(bits) - 96];
}

const isWithin = (address: Address, [network, bits]: [Address, number]) =>
  address.kind() === network.kind() && address.match(network, bits);

/**
 * The network of an address, as it is recorded: IPv4 by /24, IPv6 by /48, such as 192.0.2.0/24. Enough to see that someone signed in from
 * elsewhere, and too little to tell one household from the next.
 */
export function networkOfAddress(address: string): string {
  const [bare = ''] = address.split('%', 1);
  if (isIP(bare) === 0) return 'unknown';
  const parsed = ipaddr.process(bare);
  if (parsed instanceof ipaddr.IPv4) return `${parsed.octets.slice(0, 3).join('.')}.0/24`;
  const groups = parsed.parts.slice(0, 3).map((group) => group.toString(16));
  return `${groups.join(':')}::/48`;
}
