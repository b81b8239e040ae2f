// A client of a server under measurement, as the program makes one.
import type { Kube } from '@fairlead/kube';
import { kube } from '@fairlead/kube';
import { undiciSend } from '@fairlead/kube/node';
import { systemClock } from '../../apps/fairlead/src/clock.ts';

/** How to reach an API server. */
export interface Server {
  server: string;
  /** PEM of the authority that vouches for it. */
  ca: string;
  token: string;
}

export function clientOf({ server, ca, token }: Server, said: (line: string) => void): Kube {
  const auth = {
    headers: async () => ({ ok: true, value: { authorization: `Bearer ${token}` } }) as const,
    refused: () => false,
  };
  const { send } = undiciSend({ ca });
  const report = (trouble: { doing: string }) => said(`${trouble.doing}: ${JSON.stringify(trouble)}`);
  return kube({ server, send, auth, clock: systemClock, random: Math.random, report });
}

/** The value, or a throw: a benchmark of refusals measures nothing. */
export async function must<T>(
  asking: Promise<{ ok: true; value: T } | { ok: false; problem: { message: string } }>,
): Promise<T> {
  const answer = await asking;
  if (!answer.ok) throw new Error(answer.problem.message);
  return answer.value;
}
