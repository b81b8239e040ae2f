import { expect, test } from 'vitest';
import { recent } from './recent.ts';

test('what is asked for again soon is read once, and many others in between make it be read again', () => {
  const reads: number[] = [];
  const nameOf = recent(({ id }: { id: number }) => {
    reads.push(id);
    return `object ${id}`;
  });
  const first = { id: 0 };
  expect([nameOf(first), nameOf(first)]).toEqual(['object 0', 'object 0']);
  expect(reads).toEqual([0]);
  for (let id = 1; id <= 100; id += 1) nameOf({ id });
  reads.length = 0;
  expect(nameOf(first)).toBe('object 0');
  expect(reads).toEqual([0]);
});

test('of another object with the same content it knows nothing', () => {
  const reads: object[] = [];
  const read = recent((object: object) => reads.push(object));
  read({});
  read({});
  expect(reads).toHaveLength(2);
});
