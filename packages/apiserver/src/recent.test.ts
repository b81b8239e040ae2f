import { expect, test } from 'vitest';
import { recent } from './recent.ts';

test('the last texts are remembered, those asked for among them, and the others forgotten', () => {
  const texts = recent(2);
  texts.add('a');
  texts.add('b');
  texts.add('c');
  expect(['a', 'b', 'c'].map((text) => texts.has(text))).toEqual([true, true, true]);
  // Asked for last: b and c. As many as are new push out what is older.
  for (const text of ['d', 'e', 'f']) texts.add(text);
  expect(['a', 'b', 'f'].map((text) => texts.has(text))).toEqual([false, false, true]);
});
