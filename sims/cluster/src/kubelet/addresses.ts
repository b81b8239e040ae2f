// Addresses for nodes and pods out of one IPv4 block: unique, never .0 or .255, and a freed one rests longest before it is used again.

export type AddressPool = ReturnType<typeof addressPool>;

/**
 * A pool over `cidr`, such as 127.21.0.0/16. Taking and releasing cost O(1), whatever the size: fresh addresses
 * come in order, and only when all were used once do freed ones come back, oldest first. An address that comes back
 * soon would send traffic of a stale pool member to a stranger.
 */
export function addressPool(cidr: string) {
  const { first, size } = parse(cidr);
  // The first sixteenth is for nodes, so that more nodes after a restart do not meet pods' addresses.
  const nodes = Math.max(2, size >> 4);
  const owners = new Map<number, string>();
  const freed = new Set<number>();
  let fresh = nodes;

  const take = (owner: string): string | undefined => {
    while (fresh < size && (isAvoided(first + fresh) || owners.has(fresh))) fresh += 1;
    let at = fresh;
    if (fresh < size) fresh += 1;
    else {
      const [oldest] = freed;
      if (oldest === undefined) return undefined;
      freed.delete(oldest);
      at = oldest;
    }
    owners.set(at, owner);
    return format(first + at);
  };

  return {
    /** Pods that fit. */
    capacity: countUsable(first + nodes, first + size),
    take,
    /** Takes this very address; false when it is another's or not in the block. */
    claim(ip: string, owner: string): boolean {
      const at = toNumber(ip) - first;
      if (at < nodes || at >= size || isAvoided(first + at)) return false;
      const present = owners.get(at);
      if (present !== undefined && present !== owner) return false;
      freed.delete(at);
      owners.set(at, owner);
      return true;
    },
    release(ip: string, owner: string): void {
      const at = toNumber(ip) - first;
      if (owners.get(at) !== owner) return;
      owners.delete(at);
      if (at < fresh) freed.add(at);
    },
    /** The address of the nth node, from 0. */
    node(n: number): string {
      let at = 0;
      for (let left = n; at < nodes; at += 1) {
        if (isAvoided(first + at)) continue;
        if (left === 0) return format(first + at);
        left -= 1;
      }
      throw new RangeError(`${cidr} has no room for node ${n + 1}`);
    },
  };
}

/**
 * Where the address of `cidr` is listened on when the API must not show that: the same place in `listenCidr`.
 * A real kube-apiserver refuses endpoints in 127/8, and nothing else can be listened on without root.
 */
export function translation(cidr: string, listenCidr: string): (ip: string) => string {
  const [shown, real] = [parse(cidr), parse(listenCidr)];
  if (real.size < shown.size) throw new RangeError(`listenCidr ${listenCidr} is smaller than podCidr ${cidr}`);
  return (ip) => format(real.first + toNumber(ip) - shown.first);
}

function parse(cidr: string): { first: number; size: number } {
  const [, ip, bits] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(cidr) ?? [];
  const prefix = Number(bits);
  if (ip === undefined || prefix < 8 || prefix > 28 || ip.split('.').some((part) => Number(part) > 255)) {
    throw new RangeError(`podCidr ${cidr}: an IPv4 block with a prefix of 8 to 28 is needed, such as 127.21.0.0/16`);
  }
  const size = 2 ** (32 - prefix);
  const first = toNumber(ip);
  if (first % size !== 0) throw new RangeError(`podCidr ${cidr}: ${ip} is not the first address of the block`);
  return { first, size };
}

function isAvoided(address: number): boolean {
  return address % 256 === 0 || address % 256 === 255;
}

function countUsable(from: number, to: number): number {
  const avoided = (end: number) => Math.ceil(end / 256) + Math.floor(end / 256);
  return to - from - (avoided(to) - avoided(from));
}

function toNumber(ip: string): number {
  return ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function format(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
}
