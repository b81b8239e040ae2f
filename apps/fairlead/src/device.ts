// A BIG-IP as the providers see it, reached over this machine's network.
import type { Clock, Provider } from '@fairlead/core';
import { bigip } from '@fairlead/providers';
import { Agent, fetch as undiciFetch, type RequestInit as UndiciInit } from 'undici';
import type { Credentials } from './credentials.ts';

export interface Device {
  provider: Provider;
  /** Closes connections, once calls have ended. */
  close(): Promise<void>;
}

export interface DeviceOptions {
  url: string;
  credentials: Credentials;
  clock: Clock;
  /** Told of each request when its answer began, or when there was none. */
  onCall?: ((call: DeviceCall) => void) | undefined;
}

export interface DeviceCall {
  method: string;
  /** `2xx` to `5xx`, or `none` when no answer came. */
  code: string;
  /** Milliseconds. */
  took: number;
  /** Does it make AS3 work? */
  isDeclaration: boolean;
}

/** A few connections are kept open: the member lane must not pay for a handshake. */
const connections = 8;

export function device({ url, credentials, clock, onCall }: DeviceOptions): Device {
  const { user, password, token, ca, insecure } = credentials;
  const connect = { ...(ca === undefined ? {} : { ca }), rejectUnauthorized: insecure !== true };
  const dispatcher = new Agent({ connections, connect });
  // The same interface from two packages: undici's own `fetch` takes the agent, and gives what the platform's would.
  const fetch = async (target: string, init: RequestInit): Promise<Response> => {
    const begun = clock.now();
    const { method = 'GET' } = init;
    const tell = (code: string): void =>
      onCall?.({ method, code, took: clock.now() - begun, isDeclaration: method === 'POST' && isDeclare(target) });
    try {
      const response: unknown = await undiciFetch(target, { ...(init as UndiciInit), dispatcher });
      tell(`${Math.floor((response as Response).status / 100)}xx`);
      return response as Response;
    } catch (error) {
      tell('none');
      throw error;
    }
  };
  return { provider: bigip({ url, user, password, token, fetch, clock }) as Provider, close: () => dispatcher.close() };
}

const isDeclare = (url: string): boolean => new URL(url).pathname.startsWith('/mgmt/shared/appsvcs/declare');
