// The embedded clusters of `fairlead up`: an API server each, and simulated nodes under those that run workloads.
import { mkdirSync } from 'node:fs';
import { type Admit, apiServer, level, memory, send } from '@fairlead/apiserver';
import type { Clock } from '@fairlead/core';
import { cluster } from '@fairlead/sim-cluster';
import { serve, type Answer } from '../serve.ts';
import { controllersUser } from './access.ts';
import type { Certificates } from './certificates.ts';
import type { DataDir } from './data-dir.ts';
import type { ClusterAccess } from './kubeconfig.ts';
import type { Slot } from './slot.ts';

export interface EmbeddedCluster extends ClusterAccess {
  /** The way in for the controllers, who are no administrators. */
  forControllers: ClusterAccess;
  close(): Promise<void>;
}

/** A request that an API server answered. */
export interface Exchange {
  cluster: string;
  /** By the user that the controllers are. */
  byControllers: boolean;
  method: string;
  path: string;
  status: number;
}

export interface ClusterOptions {
  dir: DataDir;
  clock: Clock;
  random(bytes: number): Uint8Array;
  port: number;
  certificates: Certificates;
  admit?: Admit[];
  /** Told of each request that was answered. */
  answered?: ((exchange: Exchange) => void) | undefined;
  /** Told of the server's own failures. */
  report(message: string): void;
}

/** An API server behind a port on 127.0.0.1. */
export async function startApiServer(name: string, options: ClusterOptions): Promise<EmbeddedCluster> {
  const { dir, clock, random, report } = options;
  const token = dir.secret(`${name}.token`);
  const folder = dir.file(name);
  if (!dir.ephemeral) mkdirSync(folder, { recursive: true });
  const storage = dir.ephemeral ? memory() : await level(folder);
  const controllersToken = dir.secret(`${name}.controllers.token`);
  const tokens = [
    { token, user: 'admin', groups: ['system:masters'] },
    { token: controllersToken, user: controllersUser, groups: [] },
  ];
  const { ca, cert, key } = options.certificates;
  const server = await apiServer({
    storage,
    clock,
    random,
    name,
    tokens,
    // Who may sign client certificates, and what pods are told of the server's own: one authority is both here.
    clientAuthority: ca.cert,
    authority: ca.cert,
    send,
    admit: options.admit ?? [],
    // The pods of an environment listen on 127/8.
    loopbackEndpoints: true,
    report,
  });
  // A certificate is asked for, not required: most come with a token, and whom a certificate makes one is for the API server to say.
  const tls = { cert, key, ca: ca.cert, requestCert: true, rejectUnauthorized: false };
  const answer: Answer = async (request, peer) => {
    const response = await server.answer(request, peer);
    options.answered?.({
      cluster: name,
      byControllers: request.headers.get('authorization') === `Bearer ${controllersToken}`,
      method: request.method,
      path: new URL(request.url).pathname,
      status: response.status,
    });
    return response;
  };
  const served = await serve(answer, { host: '127.0.0.1', port: options.port, tls });
  const access = { name, server: served.url, token, ca: ca.cert };
  return {
    ...access,
    forControllers: { ...access, token: controllersToken },
    async close() {
      await served.close();
      await server.close();
    },
  };
}

/** Nodes, workload controllers and kubelets for `access`; pods listen on addresses of the slot. */
export async function startNodes(
  access: ClusterAccess,
  slot: Slot,
  number: number,
): Promise<{ stop(): Promise<void> }> {
  const nodes = cluster({
    server: access.server,
    token: access.token,
    ca: access.ca,
    name: access.name,
    podCidr: slot.podCidr(number),
    nodes: 2,
  });
  await nodes.start();
  return nodes;
}
