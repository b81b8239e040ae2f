// Services: what their spec may say, what a change keeps and gives up, and where traffic may be sent.
import { expect, test } from 'vitest';
import { treeOf, type Tree } from '../object.ts';
import { testServer } from '../test-server.ts';

const at = '/api/v1/namespaces/default/services';
const made = (name: string, spec: Tree): Tree => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});

test.each<[Tree, string[]]>([
  [{}, []],
  [{ ports: [] }, ['spec.ports']],
  [{ clusterIP: 'None', ports: [] }, []],
  [{ type: 'NodePort', clusterIP: 'None' }, ['spec.clusterIPs[0]']],
  [{ clusterIP: 'nowhere' }, ['spec.clusterIPs[0]']],
  [{ clusterIPs: ['10.96.0.9'] }, ['spec.clusterIPs']],
  [{ ipFamilies: ['IPv4', 'IPv4'] }, ['spec.ipFamilies[1]']],
  [{ ipFamilies: ['IPv4', 'IPv6'] }, ['spec.ipFamilyPolicy']],
  [{ externalIPs: ['169.254.0.1', '::1', '192.0.2.1'] }, ['spec.externalIPs[0]', 'spec.externalIPs[1]']],
  [{ externalIPs: ['192.0.2.1'], externalTrafficPolicy: 'Local' }, []],
  [{ externalTrafficPolicy: 'Local' }, ['spec.externalTrafficPolicy']],
  [{ type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/33'] }, ['spec.LoadBalancerSourceRanges[0]']],
  [{ ports: [{ port: 80, targetPort: 'a--b' }] }, ['spec.ports[0].targetPort']],
  [{ ports: [{ port: 80, nodePort: 30_020 }] }, ['spec.ports[0].nodePort']],
  [{ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_400 } } }, []],
  [{ type: 'ExternalName', externalName: 'a.example.com.' }, []],
  [{ type: 'ExternalName', externalName: 'a.example.com', ipFamilies: ['IPv4'] }, ['spec.ipFamilies']],
])('a Service of %j is wrong in %j', async (spec, fields) => {
  const server = await testServer();
  const reply = await server.send('POST', at, made('a', spec));
  expect(reply.causes.map((cause) => cause.slice(0, cause.indexOf(': ')))).toEqual(fields);
  expect(reply.code).toBe(fields.length === 0 ? 201 : 422);
  await server.close();
});

test('a Service that changes its type gives up what the new type has not, and another may have it', async () => {
  const server = await testServer();
  const ports = [{ port: 80, nodePort: 30_021 }];
  const balancer = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_022, ports };
  await server.send('POST', at, made('a', balancer));
  const taken = await server.send('POST', at, made('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_022 }] }));
  expect(taken.causes[0]).toContain('provided port is already allocated');
  const changed = await server.send('PATCH', `${at}/a`, { spec: { type: 'ClusterIP' } });
  const spec = treeOf(changed.body.spec);
  expect(spec).not.toHaveProperty('healthCheckNodePort');
  expect(spec).not.toHaveProperty('externalTrafficPolicy');
  expect(spec.ports).toEqual([{ port: 80, protocol: 'TCP', targetPort: 80 }]);
  for (const [name, nodePort] of [
    ['b', 30_021],
    ['c', 30_022],
  ] as const)
    expect(
      (await server.send('POST', at, made(name, { type: 'NodePort', ports: [{ port: 80, nodePort }] }))).code,
    ).toBe(201);
  await server.close();
});

test('two protocols may share a node port, two ports of one protocol may not', async () => {
  const server = await testServer();
  const port = (name: string, protocol: string): Tree => ({ name, port: 53, protocol, nodePort: 30_023 });
  const shared = { type: 'NodePort', ports: [port('a', 'TCP'), port('b', 'UDP')] };
  expect((await server.send('POST', at, made('a', shared))).code).toBe(201);
  const twice = { type: 'NodePort', ports: [port('a', 'TCP'), { ...port('b', 'TCP'), port: 54 }] };
  expect((await server.send('POST', at, made('b', twice))).code).toBe(422);
  await server.close();
});
