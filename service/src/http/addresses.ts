/** The subject under which an address is counted: IPv4 as it is, IPv6 by its /64, which one subscriber holds whole. */
export function addressSubject(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip);
  if (mapped) return `a${mapped[1]}`;
  if (!ip.includes(':')) return `a${ip}`;
  const [head = '', tail] = ip.split('%', 1)[0]?.split('::') ?? [];
  const left = head.split(':').filter(Boolean);
  const right = tail?.split(':').filter(Boolean) ?? [];
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array(Math.max(zeros, 0)).fill('0'), ...right];
  return `a${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
