// Fields a JSON text says twice: JSON.parse keeps the last one silently, strict decoding has to name them.

/** The paths of repeated fields (`spec.replicas`), each once. The text must be valid JSON. */
export function duplicateFields(text: string): string[] {
  const found = new Set<string>();
  walk(text, (frame, isTwice) => void (isTwice && found.add(pathIn(frame))));
  return [...found];
}

/** Sorts paths by where the text says them; one said twice stands where it is said again. */
export function sortByPlace(paths: { path: string; isTwice: boolean }[], text: string): void {
  const keyOf = (path: string, isTwice: boolean): string => `${isTwice ? 'again' : 'first'} ${path}`;
  const places = new Map<string, number>();
  walk(text, (frame, isTwice) => {
    const key = keyOf(pathIn(frame), isTwice);
    if (!places.has(key)) places.set(key, places.size);
  });
  const placeOf = ({ path, isTwice }: { path: string; isTwice: boolean }): number =>
    places.get(keyOf(path, isTwice)) ?? places.size;
  paths.sort((a, b) => placeOf(a) - placeOf(b));
}

/** Tells of every field, in the text's order, and whether its object has said it before. */
function walk(text: string, each: (field: Frame, isTwice: boolean) => void): void {
  const frames: Frame[] = [];
  let at = 0;
  while (at < text.length) {
    const mark = text[at];
    const frame = frames.at(-1);
    if (mark === '"') {
      const end = stringEnd(text, at);
      if (frame && !frame.isList && frame.expectsKey) note(frame, JSON.parse(text.slice(at, end)) as string, each);
      at = end;
      continue;
    }
    if (mark === '{' || mark === '[')
      frames.push({
        isList: mark === '[',
        path: frame ? pathIn(frame) : '',
        keys: new Set(),
        key: '',
        index: 0,
        expectsKey: true,
      });
    else if (mark === '}' || mark === ']') frames.pop();
    else if (mark === ',' && frame) {
      frame.index++;
      frame.expectsKey = true;
    } else if (mark === ':' && frame) frame.expectsKey = false;
    at++;
  }
}

interface Frame {
  isList: boolean;
  path: string;
  keys: Set<string>;
  key: string;
  index: number;
  expectsKey: boolean;
}

function note(frame: Frame, key: string, each: (field: Frame, isTwice: boolean) => void): void {
  frame.key = key;
  each(frame, frame.keys.has(key));
  frame.keys.add(key);
}

function pathIn(frame: Frame): string {
  if (frame.isList) return `${frame.path}[${frame.index}]`;
  return frame.path === '' ? frame.key : `${frame.path}.${frame.key}`;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
