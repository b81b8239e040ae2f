// The embedded API server beside a real kube-apiserver over etcd, both durable, both over HTTPS, with one load in one run.
import { launcher, type Launcher } from './apiserver/embedded.ts';
import { allLoads, type Sample } from './apiserver/loads.ts';
import { startReal, type Peer } from './apiserver/real.ts';
import { client, must, residentMb, round, type Subject } from './apiserver/subject.ts';
import { mapsPath, mapText } from './apiserver/objects.ts';
import { spread, type Benchmark, type Figure } from './figure.ts';

const starts = 11;
const startGoalMs = 300;
/** Objects of a kind the other loads do not touch, to weigh memory with. */
const many = 100_000;

export const apiserver: Benchmark = {
  name: 'apiserver',
  about: 'the embedded API server beside kube-apiserver + etcd: reads, durable writes, lists, watches, start, memory',
  async run(say) {
    const programs = await realPrograms(say);
    if (!programs)
      say('no kube-apiserver and etcd here, so the figures of the peer are left out, and goals that name it');
    const launch = await launcher();
    try {
      const figures = await measureStart(launch, say);
      const { subject } = await launch.start('load');
      const peer = programs && (await startReal(programs));
      try {
        if (peer && figures['start_ms'])
          figures['start_ms'].peer = `${words(peer)}: ${peer.startMs.toFixed(0)} ms, etcd not counted`;
        Object.assign(figures, await measureLoads(subject, peer, say));
      } finally {
        await peer?.stop();
      }
      Object.assign(figures, await measureMemory(subject, say));
      await subject.stop();
      return figures;
    } finally {
      launch.close();
    }
  },
};

/** A plain script, so that it runs before anything is installed; its shape is said here. */
async function realPrograms(say: (text: string) => void): Promise<{ apiserver: string; etcd: string } | undefined> {
  const { kubePrograms } = (await import(new URL('../tools/kube/build.mjs', import.meta.url).href)) as {
    kubePrograms(say: (text: string) => void): Promise<{ apiserver: string; etcd: string } | undefined>;
  };
  return kubePrograms(say);
}

const words = ({ version }: Peer): string => `kube-apiserver ${version} + etcd`;

/** Milliseconds from the start of the process to its answer to /readyz, the database being there already. */
async function measureStart(launch: Launcher, say: (text: string) => void): Promise<Record<string, Figure>> {
  say(`start: ${starts} times`);
  const took: number[] = [];
  for (let i = 0; i < starts; i++) {
    const began = performance.now();
    const { subject } = await launch.start('start');
    const probe = client(subject, 1);
    await must(probe.ask({ path: '/readyz' }), 'readyz');
    took.push(performance.now() - began);
    probe.close();
    await subject.stop();
  }
  return { start_ms: { median: spread(took).median, unit: 'ms', goal: { max: startGoalMs } } };
}

/** Every load in rounds, ours and the peer's in turn, so that what else the machine does falls on both. */
async function measureLoads(
  subject: Subject,
  peer: Peer | undefined,
  say: (text: string) => void,
): Promise<Record<string, Figure>> {
  const figures: Record<string, Figure> = {};
  for (const load of allLoads) {
    say(`${load.key}: ${load.rounds} rounds`);
    const [ours, theirs] = await load.measure(subject, peer);
    const isTime = load.unit === 'ms';
    const { median } = spread(ours.rounds);
    const goal = theirs && spread(theirs.rounds).median;
    const figure: Figure = { median, unit: load.unit };
    if (goal !== undefined && peer) {
      figure.peer = `${words(peer)}: ${goal.toFixed(goal < 100 ? 1 : 0)} ${load.unit}`;
      if (load.hasGoal) figure.goal = isTime ? { max: Math.ceil(goal) } : { min: Math.floor(goal) };
    }
    figures[load.key] = figure;
    figures[load.latencyKey] = {
      ...spread(ours.took),
      unit: 'ms',
      ...(theirs && peer ? { peer: latency(peer, theirs) } : {}),
    };
  }
  return figures;
}

function latency(peer: Peer, { took }: Sample): string {
  const { median, p99 } = spread(took);
  return `${words(peer)}: ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
}

async function measureMemory(subject: Subject, say: (text: string) => void): Promise<Record<string, Figure>> {
  say(`memory: ${many} ConfigMaps of 0.5 KB`);
  const writer = client(subject, 64);
  await round(many, 64, (n) => must(writer.ask({ method: 'POST', path: mapsPath, body: mapText(n, 'a') }), 'create'));
  writer.close();
  return { rss_mb_at_100000_objects: { median: residentMb(subject), unit: 'MB' } };
}
