// `npm run test:kube`: the real lane. Finds or builds a real kube-apiserver and etcd, then runs e2e/kube/main.ts with them.
//
//   --report     prints every case: same, differs, real only
//   --record     writes the real server's answers into the repository, for `npm test`
//   --chapter X  only that chapter; may be repeated
import { join } from 'node:path';
import { informerProgram, kubePrograms } from '../tools/kube/build.mjs';
import { bin, installPackages, requireNode, root, run, say } from './setup.mjs';

requireNode();
installPackages();
const programs = await kubePrograms(say);
if (!programs) {
  say('NOT RUN: without a real kube-apiserver there is nothing to compare with');
  process.exit(1);
}
// Where there is no Go, everything but the informers runs.
const informer = await informerProgram(say);
process.exit(
  run(bin('tsx'), [
    join(root, 'e2e/kube/main.ts'),
    `--etcd=${programs.etcd}`,
    `--apiserver=${programs.apiserver}`,
    ...(informer ? [`--informer=${informer}`] : []),
    ...process.argv.slice(2),
  ]),
);
