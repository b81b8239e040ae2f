// The loads: each runs in rounds on ours and, where there is one, on the peer, in turn.
import { fanOut } from './fan-out.ts';
import { mapName, mapsPath, mapText, podName, podsPath, podText } from './objects.ts';
import { client, must, round, type Client, type Round, type Subject } from './subject.ts';

export interface Sample {
  /** A figure of each round, in the load's unit. */
  rounds: number[];
  /** Milliseconds of each operation. */
  took: number[];
}

export interface Load {
  key: string;
  latencyKey: string;
  unit: string;
  rounds: number;
  hasGoal: boolean;
  measure(ours: Subject, theirs: Subject | undefined): Promise<[Sample, Sample | undefined]>;
}

const lanes = 32;
const pods = 10_000;
const rounds = 10;

interface Wanted extends Pick<Load, 'key' | 'latencyKey' | 'unit' | 'rounds' | 'hasGoal'> {
  /** One round; `n` counts rounds, the first of which (0) warms up and is not counted. */
  round(client: Client, n: number, subject: Subject): Promise<Round>;
  /** What a round is worth, in the unit. */
  value(round: Round): number;
}

const rate = ({ rate }: Round): number => rate;
const median = ({ took }: Round): number => took.toSorted((a, b) => a - b)[took.length >> 1] ?? Number.NaN;

export const allLoads: Load[] = [
  load({
    ...operations('create', true),
    round: (c, n) => {
      const size = pods / rounds;
      // Round 0 warms up with objects of its own, so that exactly 10,000 pods are there for the list.
      const path = n === 0 ? mapsPath : podsPath;
      const body = (i: number) => (n === 0 ? mapText(900_000 + i, 'a') : podText((n - 1) * size + i));
      return round(size, lanes, (i) => must(c.ask({ method: 'POST', path, body: body(i) }), 'create'));
    },
  }),
  load({
    ...operations('get'),
    round: (c, n) =>
      round(1000, lanes, (i) => must(c.ask({ path: `${podsPath}/${podName((n * 997 + i) % pods)}` }), 'get')),
  }),
  load({
    ...operations('update'),
    round: (c, n) =>
      round(500, lanes, (i) =>
        must(
          c.ask({ method: 'PUT', path: `${mapsPath}/${mapName(900_000 + i)}`, body: mapText(900_000 + i, `${n}`) }),
          'update',
        ),
      ),
  }),
  load({
    ...operations('patch'),
    round: (c, n) => {
      const body = JSON.stringify({ metadata: { annotations: { round: String(n) } } });
      const type = 'application/merge-patch+json';
      return round(500, lanes, (i) =>
        must(c.ask({ method: 'PATCH', path: `${podsPath}/${podName(i)}`, body, type }), 'patch'),
      );
    },
  }),
  load({
    key: 'list_10000_pods_ms',
    latencyKey: 'list_10000_pods_each_ms',
    unit: 'ms',
    rounds: 10,
    hasGoal: true,
    // As an informer asks first: from memory, all at once.
    round: (c) => round(1, 1, () => must(c.ask({ path: `${podsPath}?resourceVersion=0` }), 'list')),
    value: median,
  }),
  load({
    key: 'watch_events_per_s',
    latencyKey: 'watch_event_ms',
    unit: 'events/s to 100 watchers',
    rounds: 6,
    hasGoal: true,
    round: (c, n, subject) => fanOut(c, subject, n),
    value: rate,
  }),
];

function operations(name: string, hasGoal = false) {
  return { key: `${name}_per_s`, latencyKey: `${name}_ms`, unit: 'ops/s', rounds, hasGoal, value: rate };
}

function load(wanted: Wanted): Load {
  return {
    ...wanted,
    async measure(ours, theirs) {
      const subjects = theirs ? [ours, theirs] : [ours];
      const sides = subjects.map((subject) => ({ subject, client: client(subject, lanes), sample: empty() }));
      for (let n = 0; n <= wanted.rounds; n++) {
        for (const { subject, client, sample } of sides) {
          const ran = await wanted.round(client, n, subject);
          if (n === 0) continue;
          sample.rounds.push(wanted.value(ran));
          for (const ms of ran.took) sample.took.push(ms);
        }
      }
      for (const { client } of sides) client.close();
      return [sides[0]?.sample ?? empty(), sides[1]?.sample];
    },
  };
}

const empty = (): Sample => ({ rounds: [], took: [] });
