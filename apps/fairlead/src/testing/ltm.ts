// The LTM of an environment under test: its tokens, and what is served there.
import { secrets } from '@fairlead/kube';
import type { Bigip } from '@fairlead/sim-bigip';
import type { Environment } from '../up/environment.ts';

/** A Loadbalancer whose LTM is ours to configure, with its token in the Secret that `putToken` writes. */
export const ltmLoadbalancer = `apiVersion: ebcpaas.lb/v1
kind: Loadbalancer
metadata: {name: demo}
spec:
  ltm: {url: "http://100.1.1.1", mode: as3, tokenSecretRef: {name: ltm-token}, cidr: 10.0.9.0/24}
  ve: {addr: 200.1.1.1, user: admin, passwd: admin, cidr: 20.1.9.0/24, partition: blue}
  cluster: acp-region01
  nsselector: {foo: bar}
`;

/** A token of the LTM, as an administrator of it would make one. */
export async function newToken(environment: Environment): Promise<string> {
  const login = await environment.devices.ltm.sim.fetch('http://ltm/mgmt/shared/authn/login', {
    method: 'POST',
    body: JSON.stringify({ username: 'admin', password: 'admin', loginProviderName: 'tmos' }),
  });
  return ((await login.json()) as { token: { token: string } }).token.token;
}

export async function putToken(environment: Environment, token: string): Promise<void> {
  const metadata = { name: 'ltm-token', namespace: 'fairlead-system' };
  const object = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: { token: btoa(token) } };
  const put = await environment.management.apply(secrets, object, { fieldManager: 'test', force: true });
  if (!put.ok) throw new Error(put.problem.message);
}

/** Ports of the virtual servers of a device. */
export const ports = (sim: Bigip): number[] =>
  sim
    .virtuals()
    .map(({ port }) => port)
    .sort((a, b) => a - b);
