// Bytes of a stream to lines.

/**
 * A function that takes chunks as they come and gives the lines that each completes, without line ends. Chunks may
 * split a line, or a character, anywhere. Pieces of a long line are joined once, so cost stays linear in its length.
 * A last line without an end is never given: it may be half of one.
 */
export function lineSplitter(): (chunk: Uint8Array) => string[] {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  return (chunk) => {
    const parts = decoder.decode(chunk, { stream: true }).split('\n');
    const rest = parts.pop() ?? '';
    const lines = parts.map((part, index) => {
      if (index > 0) return part;
      const line = pieces.join('') + part;
      pieces = [];
      return line;
    });
    if (rest !== '') pieces.push(rest);
    return lines.filter((line) => line.trim() !== '');
  };
}
