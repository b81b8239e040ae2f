// The wire between Node and tclsh: a line out is one Tcl list, a line back is words between tabs. Any text survives it.

// Words of these characters mean themselves in a Tcl list; everything else goes as \uXXXX.
const plain = /^[\w./:@%+=,~&?!<>*()^|'`-]+$/;
const special = /[^\w./:@%+=,~&?!<>*()^|'`-]/g;

/** One word of a Tcl list. */
function tclWord(text: string): string {
  if (text === '') return '{}';
  if (plain.test(text)) return text;
  return text.replace(special, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function tclList(words: readonly string[]): string {
  return words.map(tclWord).join(' ');
}

const escapes: Record<string, string> = { '\\\\': '\\', '\\t': '\t', '\\n': '\n', '\\r': '\r' };

/** The words of an answer. */
export function readAnswer(line: string): string[] {
  const words = line.split('\t');
  if (!line.includes('\\')) return words;
  return words.map((word) => word.replace(/\\[\\tnr]/g, (mark) => escapes[mark] ?? mark));
}
