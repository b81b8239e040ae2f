// `fairlead sim bigip` and `fairlead sim approver`: one simulator by itself, until a signal ends it.
import { untilAborted } from '@fairlead/core';
import { approver } from '@fairlead/sim-approver';
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
  await untilAborted(signal);
  await sim.close();
  return 0;
}

export interface SimApproverOptions {
  host: string;
  port: number;
  token: string | undefined;
  decide: 'pending' | 'opened' | 'rejected';
  latency: number;
}

export async function simApprover({ host, port, token, decide, latency }: SimApproverOptions): Promise<number> {
  const sim = approver({ token, decision: decide, latency });
  const { url } = await sim.listen({ host, port });
  process.stdout.write(
    `Approver at ${url}: its page is ${url}/, spec.policy of a Loadbalancer is {provider: http, url: "${url}"}. Ctrl-C ends it.\n`,
  );
  const { signal } = untilSignal();
  await untilAborted(signal);
  await sim.close();
  return 0;
}
