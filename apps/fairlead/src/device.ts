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
}

/** A few connections are kept open: the member lane must not pay for a handshake. */
const connections = 8;

export function device({ url, credentials, clock }: DeviceOptions): Device {
  const { user, password, token, ca, insecure } = credentials;
  const connect = { ...(ca === undefined ? {} : { ca }), rejectUnauthorized: insecure !== true };
  const dispatcher = new Agent({ connections, connect });
  // The same interface from two packages: undici's own `fetch` takes the agent, and gives what the platform's would.
  const fetch = async (target: string, init: RequestInit): Promise<Response> => {
    const response: unknown = await undiciFetch(target, { ...(init as UndiciInit), dispatcher });
    return response as Response;
  };
  return { provider: bigip({ url, user, password, token, fetch, clock }) as Provider, close: () => dispatcher.close() };
}
