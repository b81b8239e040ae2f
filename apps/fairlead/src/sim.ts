// `fairlead sim bigip`: one simulated device by itself, until a signal ends it.
import { bigip, loopback } from '@fairlead/sim-bigip';
import { untilSignal } from './signals.ts';

export interface SimBigipOptions {
  host: string;
  port: number;
  user: string;
  password: string;
}

export async function simBigip({ host, port, user, password }: SimBigipOptions): Promise<number> {
  const sim = bigip({ users: { [user]: password }, bind: loopback });
  const { url } = await sim.listen({ host, port });
  process.stdout.write(
    `BIG-IP at ${url}, user ${user}; AS3: POST ${url}/mgmt/shared/appsvcs/declare. Ctrl-C ends it.\n`,
  );
  const { signal } = untilSignal();
  await new Promise<void>((ended) => signal.addEventListener('abort', () => ended(), { once: true }));
  await sim.close();
  return 0;
}
