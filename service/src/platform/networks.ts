import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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
