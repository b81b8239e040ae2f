// Events off a watch's stream, as many as are wanted or until the server ends it.
import type { Json } from './case.ts';
import { inTime } from './in-time.ts';
import type { Answered, Place } from './place.ts';

/** Gives fewer than wanted when the stream ends, or nothing comes in time. */
export async function readEvents(answered: Answered, wanted: number | 'end', place: Place): Promise<Json[]> {
  const lines = linesOf(answered, place);
  const events: Json[] = [];
  const most = wanted === 'end' ? Infinity : wanted;
  while (events.length < most) {
    const next = await lines.next();
    if (next.done) break;
    events.push(JSON.parse(next.value) as Json);
  }
  return events;
}

async function* linesOf({ body }: Answered, place: Place): AsyncGenerator<string> {
  const reader = body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const chunk = await inTime(reader.read(), place);
    if (!chunk || chunk.done) return;
    const lines = (text + decoder.decode(chunk.value, { stream: true })).split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
}
