// Where a virtual address is really bound. 20.1.0.10 cannot be bound on a laptop; 127.1.0.10 can.

export interface Place {
  host: string;
  port: number;
}

/** Says where the virtual address and port should be bound on this machine. */
export type Bind = (address: string, port: number) => Place;

/** a.b.c.d goes to 127.b.c.d, an IPv6 address by its last three bytes; ports below 1024 go up by 10000 unless we are root. */
export const loopback: Bind = (address, port) => {
  const isRoot = process.getuid?.() === 0;
  return { host: loopbackHost(address), port: port < 1024 && !isRoot ? port + 10_000 : port };
};

/** The port and where to go when it is taken: 10000 up, then any free one. */
export function candidates({ port }: Place): number[] {
  return port + 10_000 <= 65_535 ? [port, port + 10_000, 0] : [port, 0];
}

/** Whether an error of listening means only that this port cannot be had. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES');
}

function loopbackHost(address: string): string {
  if (!address.includes(':')) return `127.${address.split('.').slice(1).join('.')}`;
  const number = Number.parseInt(addressHex(address).slice(-6), 16);
  return `127.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
}

/** The 16 bytes of an IPv6 address as 32 hex digits. */
export function addressHex(address: string): string {
  const [head = '', tail] = address.split('::');
  const left = groups(head);
  const right = groups(tail ?? '');
  const zeros = tail === undefined ? '' : '0'.repeat(Math.max(0, 32 - left.length - right.length));
  return `${left}${zeros}${right}`;
}

function groups(text: string): string {
  if (text === '') return '';
  const hex = (part: string): string => Number(part).toString(16).padStart(2, '0');
  const parts = text
    .split(':')
    .map((group) => (group.includes('.') ? group.split('.').map(hex).join('') : group.padStart(4, '0')));
  return parts.join('');
}
