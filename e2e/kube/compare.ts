// The suite on two servers: what differs, as a table, and the recorded answers that `npm test` compares with.
import {
  type Answer,
  type Case,
  type Chapter,
  difference,
  differences,
  type Outcome,
  type Place,
  readRecording,
  runChapter,
  writeRecording,
} from '../../packages/testkit/src/kube-conformance/index.ts';

/*
   the real server | ours, live  | the recorded answer | verdict
   ----------------+-------------+---------------------+------------------------------------------
   answers         | alike       | alike               | same
   answers         | otherwise   | –                   | differs: a bug of ours
   answers         | not asked   | alike               | real only: the case says why
   answers         | –           | otherwise           | stale: record again, and read the diff
   not asked       | –           | –                   | not asked: the given cluster is not what the chapter needs
   cannot be asked | –           | –                   | wrong: the case itself is at fault
*/
export type Verdict = 'same' | 'differs' | 'real only' | 'not asked' | 'stale' | 'wrong';

export const isFine = ({ verdict }: Row): boolean => ['same', 'real only', 'not asked'].includes(verdict);

export interface Row {
  chapter: string;
  name: string;
  verdict: Verdict;
  /** The first differences, or the reason. */
  why?: string[];
}

/** One cause makes many differences, and the first few tell it. */
const most = 3;

/** `version`: the real server's; recorded answers of another one cannot be stale. */
export async function compare(
  { real, ours, version }: { real: Place; ours: Place; version: string },
  chapters: readonly Chapter[],
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const chapter of chapters) {
    if (chapter.needs !== undefined && !real.meets.includes(chapter.needs)) {
      const why = [`needs a server that is ${chapter.needs}`];
      rows.push(...chapter.cases.map(({ name }): Row => ({ chapter: chapter.name, name, verdict: 'not asked', why })));
      continue;
    }
    const [theirs, own] = [await outcomes(real, chapter), await outcomes(ours, chapter)];
    const recording = readRecording(chapter.name);
    const recorded = recording === undefined || recording.server === version ? (recording?.cases ?? {}) : undefined;
    for (const one of chapter.cases) {
      const [answer, ourAnswer] = [theirs.get(one.name), own.get(one.name)];
      if (!answer || !ourAnswer) throw new Error(`bug: the case "${one.name}" was not run`);
      rows.push({
        chapter: chapter.name,
        name: one.name,
        ...verdictOn(one, { answer, ourAnswer, recorded: recorded && (recorded[one.name] ?? []) }),
      });
    }
  }
  return rows;
}

interface Outcomes {
  answer: Outcome;
  ourAnswer: Outcome;
  /** Undefined when there is nothing of the same version. */
  recorded: Answer[] | undefined;
}

function verdictOn({ realOnly }: Case, { answer, ourAnswer, recorded }: Outcomes): Pick<Row, 'verdict' | 'why'> {
  if ('failed' in answer) return { verdict: 'wrong', why: [answer.failed] };
  const stale = recorded && difference(recorded, answer);
  if (stale) return { verdict: 'stale', why: [stale] };
  if (realOnly !== undefined) return { verdict: 'real only', why: [realOnly] };
  const differs = differences(answer.answers, ourAnswer);
  return differs.length > 0 ? { verdict: 'differs', why: differs.slice(0, most) } : { verdict: 'same' };
}

/** Runs each chapter on the real server and keeps its answers. A case that cannot be asked keeps nothing and throws at the end. */
export async function record(
  real: Place,
  chapters: readonly Chapter[],
  server: string,
  say: (line: string) => void,
): Promise<void> {
  const wrong: string[] = [];
  for (const chapter of chapters) {
    const cases: NonNullable<ReturnType<typeof readRecording>>['cases'] = {};
    for (const [name, outcome] of await outcomes(real, chapter)) {
      if ('failed' in outcome) wrong.push(`${chapter.name}: ${name}: ${outcome.failed}`);
      else cases[name] = outcome.answers;
    }
    writeRecording(chapter.name, { server, cases });
    say(`recorded ${Object.keys(cases).length} cases of ${chapter.name}`);
  }
  if (wrong.length > 0) throw new Error(`these cases cannot be asked:\n  ${wrong.join('\n  ')}`);
}

async function outcomes(place: Place, chapter: Chapter): Promise<Map<string, Outcome>> {
  const all = new Map<string, Outcome>();
  await runChapter(place, chapter, ({ name }, outcome) => all.set(name, outcome));
  return all;
}

/** Lines: totals by chapter, then each case that is not the same, with its first difference; all cases when `isWhole`. */
export function table(rows: readonly Row[], isWhole: boolean): string[] {
  const verdicts: Verdict[] = ['same', 'differs', 'real only', 'not asked', 'stale', 'wrong'];
  const count = (some: readonly Row[], verdict: Verdict) => some.filter((row) => row.verdict === verdict).length;
  const line = (name: string, some: readonly Row[]) =>
    [
      name.padEnd(16),
      ...verdicts.map((verdict) => String(count(some, verdict)).padStart(10)),
      String(some.length).padStart(10),
    ].join('');
  const chapters = [...new Set(rows.map(({ chapter }) => chapter))];
  const totals = [
    ['chapter'.padEnd(16), ...[...verdicts, 'cases'].map((word) => word.padStart(10))].join(''),
    ...chapters.map((name) =>
      line(
        name,
        rows.filter(({ chapter }) => chapter === name),
      ),
    ),
    line('all', rows),
  ];
  const told = rows
    .filter(({ verdict }) => isWhole || (verdict !== 'same' && verdict !== 'not asked'))
    .map(({ chapter, name, verdict, why }) =>
      [`${verdict.padEnd(10)} ${chapter}: ${name}`, ...(why ?? [])].join('\n           '),
    );
  return [...told, ...totals];
}
