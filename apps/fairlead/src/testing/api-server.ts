// An API server with nothing around it, for tests of what speaks to one.
import { randomBytes } from 'node:crypto';
import { apiServer, memory, type ApiServer } from '@fairlead/apiserver';
import { systemClock } from '../clock.ts';

/** The administrator's token is `root`. */
export const bareServer = (): Promise<ApiServer> =>
  apiServer({
    storage: memory(),
    clock: systemClock,
    random: (bytes) => randomBytes(bytes),
    name: 'management',
    tokens: [{ token: 'root', user: 'root', groups: ['system:masters'] }],
    report: (line) => void process.stderr.write(`${line}\n`),
  });
