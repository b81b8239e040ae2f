// A digest of text, to tell one edit from another. Not for secrets: whoever can write the text can make two collide.

/** 16 hexadecimal digits; two 32-bit lanes mixed as in MurmurHash3's finaliser. */
export function digest(text: string): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
  }
  const first = mix(a) ^ Math.imul(mix(b), 0x27d4eb2f);
  const second = mix(b) ^ Math.imul(mix(a), 0x165667b1);
  return hex(first) + hex(second);
}

function mix(lane: number): number {
  let x = lane ^ (lane >>> 16);
  x = Math.imul(x, 0x85ebca6b);
  x ^= x >>> 13;
  x = Math.imul(x, 0xc2b2ae35);
  return x ^ (x >>> 16);
}

const hex = (lane: number): string => (lane >>> 0).toString(16).padStart(8, '0');
