import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address, a zone, brackets and a port have fewer characters; anything longer is not read. */
const textLengthMax = 100;
/** In brackets; without a colon, before a port; or bare, which only an IPv6 address can be then. */
const spelling = /^(?:\[([^\]%]*)(?:%[^\]]*)?\](?::\d{1,5})?|([^:%]*)(?::\d{1,5})?|([^%]*)(?:%.*)?)$/;
/** Where there is no address at all: the connection has broken already. */
const noAddress = 'a0.0.0.0';

/**
 * The subject under which a request is counted. A hop that is no address ("unknown", "_hidden") counts as the proxy that
 * wrote it: there are few proxies, so that made-up texts can't yield a budget each.
 */
export function requestSubject({ ip, ips = [ip] }: { readonly ip: string; readonly ips?: readonly string[] }): string {
  for (let hop = ips.length - 1; hop >= 0; hop -= 1) {
    const subject = subjectOf(ips[hop]);
    if (subject !== undefined) return subject;
  }
  return noAddress;
}

/** As `requestSubject`, of the peer of a connection. */
export const addressSubject = (text: string | undefined): string => subjectOf(text) ?? noAddress;

/**
 * The network of a subject: IPv4 by /24, IPv6 by /48. These are the smallest blocks that are routed on the internet, so
 * that whoever rents many addresses mostly holds them in few networks.
 */
export function networkOf(subject: string): string {
  const separator = subject.includes(':') ? ':' : '.';
  return subject.split(separator, 3).join(separator);
}

/** Whether a hop is one of the configured proxies, which are addresses or CIDR ranges, however the hop is written. */
export function trustsProxies(proxies: readonly string[]): (hop: string) => boolean {
  const ranges = proxies.map(parseRange);
  return (hop) => {
    const address = parseAddress(hop);
    return address !== undefined && ranges.some((range) => isWithin(address, range));
  };
}

/** IPv4 as it is, IPv6 by its /64, which one subscriber holds whole. */
function subjectOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (isIPv4(text)) return `a${text}`;
  const address = parseAddress(text);
  if (!(address instanceof ipaddr.IPv6)) return address && `a${address}`;
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `a${groups.join(':')}::/64`;
}

/** An IPv4 address in IPv6 is the IPv4 address. */
function parseAddress(text: string | undefined): Address | undefined {
  if (text === undefined || text.length > textLengthMax) return undefined;
  const [, bracketed, beforePort, bare] = spelling.exec(text.trim()) ?? [];
  const address = bracketed ?? beforePort ?? bare ?? '';
  // Stricter than ipaddr.js, to which "1" and "0x7f.1" are addresses.
  return isIP(address) === 0 ? undefined : ipaddr.process(address);
}

/** A range that is written as IPv4 in IPv6 is the IPv4 range; one that reaches beyond IPv4 matches native IPv6 addresses alone. */
function parseRange(text: string): [Address, number] {
  const [written = '', bits] = text.split('/', 2);
  const address = parseAddress(written);
  if (!address) throw new TypeError(`"${text}" is neither an address nor a CIDR range`);
  if (bits === undefined) return [address, address.kind() === 'ipv4' ? 32 : 128];
  const isMapped = address.kind() === 'ipv4' && written.includes(':');
  if (!isMapped) return [address, Number(bits)];
  return Number(bits) < 96 ? [ipaddr.parse(written), Number(bits)] : [address, Number(bits) - 96];
}

const isWithin = (address: Address, [network, bits]: [Address, number]) =>
  address.kind() === network.kind() && address.match(network, bits);
