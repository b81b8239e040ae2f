// `npm run test:kube`: the real lane. Finds or builds a real kube-apiserver and etcd, then runs e2e/kube/main.ts with them.
//
//   --report     prints every case: same, differs, real only
//   --record     writes the real server's answers into the repository, for `npm test`
//   --chapter X  only that chapter; may be repeated
//   --kubectl    only what is typed with kubectl
//   --quickstart only the quickstart
//   --informer T only client-go informers on our own server, for a time such as 10m
//
// A cluster is used only when KUBECONFIG names it and FAIRLEAD_DISPOSABLE=yes says that it may be spoilt.
import { delimiter, join } from 'node:path';
import { informerProgram, kubectlFolder, kubePrograms } from '../tools/kube/build.mjs';
import { bin, installPackages, requireNode, root, run, say } from './setup.mjs';

requireNode();
installPackages();
const args = await servers();
if (!args) {
  say('NOT RUN: without a real kube-apiserver there is nothing to compare with');
  process.exit(1);
}
// Without a kubectl the lane says so, and fails; a cluster that was given is not typed at.
const kubectl = args[0].startsWith('--kubeconfig') ? undefined : await kubectlFolder(say);
const env = kubectl ? { ...process.env, PATH: `${kubectl}${delimiter}${process.env.PATH}` } : process.env;
process.exit(run(bin('tsx'), [join(root, 'e2e/kube/main.ts'), ...args, ...process.argv.slice(2)], { env }));

async function servers() {
  const { KUBECONFIG, FAIRLEAD_DISPOSABLE } = process.env;
  if (KUBECONFIG && FAIRLEAD_DISPOSABLE === 'yes') return [`--kubeconfig=${KUBECONFIG}`];
  if (KUBECONFIG)
    say('KUBECONFIG is set and left alone: FAIRLEAD_DISPOSABLE=yes would let the tests loose on that cluster');
  const programs = await kubePrograms(say);
  if (!programs) return undefined;
  // Where there is no Go, everything but the informers runs.
  const informer = await informerProgram(say);
  return [
    `--etcd=${programs.etcd}`,
    `--apiserver=${programs.apiserver}`,
    ...(informer ? [`--informer-program=${informer}`] : []),
  ];
}
