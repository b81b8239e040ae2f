// The string formats a real API server checks; others are taken as notes to the reader, as it does.
import { isIP, isIPv4, isIPv6 } from 'node:net';

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const hostname = /^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\.?$/;
const duration = /^[-+]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/;

const formats: Record<string, (text: string) => boolean> = {
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  uuid: (text) => /^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/.test(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => dateTime.test(text) && !Number.isNaN(Date.parse(text)),
  duration: (text) => text === '0' || duration.test(text),
  byte: (text) => /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  hostname: (text) => text.length <= 253 && hostname.test(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: isUri,
  mac: (text) => /^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/.test(text),
};

/** Whether `text` is not of `format`; unknown formats have no problem. */
export function formatProblem(text: string, format: string): boolean {
  const is = Object.hasOwn(formats, format) ? formats[format] : undefined;
  return is ? !is(text) : false;
}

/** An address, a slash and a prefix length within the address's bits. */
export function isCidr(text: string): boolean {
  const slash = text.lastIndexOf('/');
  const family = isIP(text.slice(0, slash));
  const length = text.slice(slash + 1);
  return slash > 0 && family !== 0 && /^(0|[1-9]\d{0,2})$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
}

function isUri(text: string): boolean {
  return URL.canParse(text) || (text.startsWith('/') && URL.canParse(text, 'http://a'));
}
