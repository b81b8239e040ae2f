// The usual CRC-32 (ISO-HDLC, polynomial 0xEDB88320 reflected), as the device's own `crc32` command counts it.

/** CRC-32 of `text` in UTF-8, 0 to 2^32-1. The device gives it signed: there, mask with 0xffffffff. */
export function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

const table: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc >>> 0;
});
