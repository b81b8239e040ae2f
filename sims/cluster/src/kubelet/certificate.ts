// A self-signed certificate for https ports, written in DER by hand: X.509 v3 (RFC 5280), ECDSA P-256 with SHA-256.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface KeyAndCertificate {
  /** PEM. */
  key: string;
  cert: string;
}

const made = new Map<string, KeyAndCertificate>();

/** One for each common name and life of the program: making a key for each pod would take most of its start. */
export function selfSigned(commonName: string): KeyAndCertificate {
  const present = made.get(commonName);
  if (present) return present;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302'));
  const name = sequence(set(sequence(oid('550403'), tlv(0x0c, Buffer.from(commonName)))));
  const serial = randomBytes(16);
  // A serial number is positive and its first byte not zero.
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const alternative = sequence(
    oid('551d11'),
    tlv(0x04, sequence(tlv(0x82, Buffer.from('localhost')), tlv(0x82, Buffer.from(commonName)))),
  );
  const signed = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, serial),
    algorithm,
    name,
    sequence(tlv(0x18, Buffer.from('20200101000000Z')), tlv(0x18, Buffer.from('20991231235959Z'))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(alternative)),
  );
  const signature = sign('sha256', signed, privateKey);
  const der = sequence(signed, algorithm, tlv(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const base64 = der.toString('base64').replace(/(.{64})/g, '$1\n');
  const pair = {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
  made.set(commonName, pair);
  return pair;
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function set(...parts: Buffer[]): Buffer {
  return tlv(0x31, Buffer.concat(parts));
}

function oid(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, 'hex'));
}

/** Tag, length, value. Lengths below 128 take one byte, longer ones a count of bytes first. */
function tlv(tag: number, value: Buffer): Buffer {
  const length: number[] = [];
  for (let left = value.length; left > 0; left >>= 8) length.unshift(left & 255);
  const head = value.length < 128 ? [value.length] : [0x80 | length.length, ...length];
  return Buffer.concat([Buffer.from([tag, ...head]), value]);
}
