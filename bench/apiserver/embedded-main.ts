// The process under measurement: an embedded API server over HTTPS with durable storage, wired as `fairlead up` wires it.
// Arguments: folder of the database, certificate, key, token. Says `ready PORT` once it listens; ends with its input.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { apiServer, level } from '@fairlead/apiserver';
import { systemClock } from '../../apps/fairlead/src/clock.ts';
import { serve } from '../../apps/fairlead/src/serve.ts';

const [folder = '', cert = '', key = '', token = ''] = process.argv.slice(2);
const server = await apiServer({
  storage: await level(folder),
  clock: systemClock,
  random: (bytes) => randomBytes(bytes),
  name: 'bench',
  tokens: [{ token, user: 'admin', groups: ['system:masters'] }],
  report: (message) => process.stderr.write(`${message}\n`),
});
const tls = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
const served = await serve(server.answer, { host: '127.0.0.1', port: 0, tls });
process.stdout.write(`ready ${served.port}\n`);
process.stdin.resume().once('end', () => {
  void served.close().then(() => server.close());
});
