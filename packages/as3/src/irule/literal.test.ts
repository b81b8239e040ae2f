import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { literal } from './literal.ts';
import { commands, unbalanced } from './tcl-words.ts';

test('plain text stands as it is, everything else as an escape of four digits', () => {
  expect(literal('/a-b_c.d')).toBe('"/a-b_c.d"');
  expect(literal('"]; exec [id] {$x}\\`#\n')).toBe(
    String.raw`"\u0022\u005d\u003b exec \u005bid\u005d \u007b\u0024x\u007d\u005c\u0060\u0023\u000a"`,
  );
});

test('whatever the text, it is one word that neither substitutes nor changes the balance of braces', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const written = literal(text);
      expect(unbalanced(written)).toBeUndefined();
      expect(written.slice(1, -1)).not.toMatch(/["[\]{}$`;#\n]|\\(?!u[0-9a-f]{4})/);
      expect(commands(`set x ${written}`)).toMatchObject([
        { words: [{ text: 'set' }, { text: 'x' }, { kind: 'quoted' }] },
      ]);
    }),
  );
});
