// One embedded API server with a client, for tests.
import { apiServer, memory, type Admit } from '@fairlead/apiserver';
import { fetchSend, kube, type Kube } from '@fairlead/kube';
import type { FakeClock } from '@fairlead/testkit';
import { kept, type Kept } from './kept.ts';

export interface TestCluster {
  kube: Kube;
  kept: Kept;
  close(): Promise<void>;
}

/** `admit`: asked about each write, with what the server keeps in that moment. */
export async function cluster(clock: FakeClock, name: string, admit?: (kept: Kept) => Admit): Promise<TestCluster> {
  const problems: string[] = [];
  let seed = 1;
  const random = (bytes: number) =>
    Uint8Array.from({ length: bytes }, () => (seed = (seed * 48_271) % 2_147_483_647) & 0xff);
  const tokens = [{ token: 'root', user: 'root', groups: ['system:masters'] }];
  const keeping = kept(memory());
  const server = await apiServer({
    storage: keeping.storage,
    ...(admit ? { admit: [admit(keeping)] } : {}),
    clock,
    random,
    name,
    tokens,
    report: (line) => problems.push(line),
  });
  const auth = {
    headers: async () => ({ ok: true, value: { authorization: 'Bearer root' } }) as const,
    refused: () => false,
  };
  const client = kube({
    server: `http://${name}.invalid`,
    send: fetchSend((request) => server.answer(request)),
    auth,
    clock,
    random: () => 0.5,
    report: () => undefined,
  });
  return {
    kube: client,
    kept: keeping,
    async close() {
      await server.close();
      if (problems.length > 0) throw new Error(problems.join('\n'));
    },
  };
}

/** Notes each write, Events aside. */
export function counted(kube: Kube, writes: string[]): Kube {
  const note = (verb: string, plural: string, name: string, subresource = '') => {
    if (plural !== 'events') writes.push(`${verb} ${plural}${subresource && `/${subresource}`} ${name}`);
  };
  return {
    ...kube,
    patch(kind, at, patch, options) {
      note('patch', kind.plural, at.name, options?.subresource);
      return kube.patch(kind, at, patch, options);
    },
    apply(kind, object, options) {
      note('apply', kind.plural, object.metadata.name, options.subresource);
      return kube.apply(kind, object, options);
    },
    remove(kind, at, options) {
      note('remove', kind.plural, at.name);
      return kube.remove(kind, at, options);
    },
  };
}

/** The value, or a throw: in a test an answer that is no value is a failure. */
export async function made<T>(
  answer: Promise<{ ok: true; value: T } | { ok: false; problem: { message: string } }>,
): Promise<T> {
  const result = await answer;
  if (!result.ok) throw new Error(result.problem.message);
  return result.value;
}
