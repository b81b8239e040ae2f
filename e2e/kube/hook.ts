// The suite's webhook behind HTTPS on a free port, for servers that call it over the network.
import { authority, issue } from '@fairlead/apiserver';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { answerHook, type Place } from '../../packages/testkit/src/kube-conformance/index.ts';

export interface Hook {
  url: string;
  /** Base64 of its authority's PEM, as `caBundle` wants it. */
  ca: string;
  close(): Promise<void>;
}

export async function startHook(): Promise<Hook & Place['hook']> {
  const ca = await authority('hook', Date.now());
  const pair = await issue(ca, { commonName: 'hook', addresses: ['127.0.0.1'], usage: 'server' }, Date.now());
  const server = createServer({ cert: pair.cert, key: pair.key }, (request, response) => {
    const reply = (body: string) => {
      const answer = answerHook(request.url?.split('?')[0] ?? '', body);
      // One that hangs keeps its connection until `close`.
      if (answer) response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    };
    // A caller that gave up half way wants no answer.
    text(request).then(reply, () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: Buffer.from(ca.cert).toString('base64'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
