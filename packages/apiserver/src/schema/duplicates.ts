// Fields a JSON text says twice: JSON.parse keeps the last one silently, strict decoding has to name them.

/** The paths of repeated fields (`spec.replicas`), each once. The text must be valid JSON. */
export function duplicateFields(text: string): string[] {
  const found = new Set<string>();
  const frames: Frame[] = [];
  let at = 0;
  while (at < text.length) {
    const mark = text[at];
    const frame = frames.at(-1);
    if (mark === '"') {
      const end = stringEnd(text, at);
      if (frame && !frame.isList && frame.expectsKey) note(frame, JSON.parse(text.slice(at, end)) as string, found);
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
  return [...found];
}

interface Frame {
  isList: boolean;
  path: string;
  keys: Set<string>;
  key: string;
  index: number;
  expectsKey: boolean;
}

function note(frame: Frame, key: string, found: Set<string>): void {
  frame.key = key;
  if (frame.keys.has(key)) found.add(pathIn(frame));
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
