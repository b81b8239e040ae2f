// The rules of seeing our own writes at once, and others' writes when the watch brings them.
import type { KubeObject } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { fresh } from './fresh.ts';

const at = { name: 'a' };
const version = (resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'a', resourceVersion },
});

function begin(shown: string) {
  let seen: KubeObject | undefined = version(shown);
  const one = fresh<KubeObject>({ get: () => seen });
  return {
    one,
    show: (resourceVersion: string | undefined) =>
      void (seen = resourceVersion === undefined ? undefined : version(resourceVersion)),
    read: () => one.read(at)?.metadata.resourceVersion,
  };
}

test('our write is read at once, until the watch has brought it', () => {
  const { one, read, show } = begin('1');
  one.wrote(version('2'), '1');
  expect([read(), one.isShown(at)]).toEqual(['2', false]);
  show('2');
  expect([read(), one.isShown(at)]).toEqual(['2', true]);
});

test('of several writes of ours the last is read while the watch brings the first', () => {
  const { one, read, show } = begin('1');
  one.wrote(version('2'), '1');
  one.wrote(version('3'), '2');
  show('2');
  expect(read()).toBe('3');
  show('3');
  expect([read(), one.isShown(at)]).toEqual(['3', true]);
});

test('what somebody else wrote after us is what counts', () => {
  const { one, read, show } = begin('1');
  one.wrote(version('2'), '1');
  show('9');
  expect([read(), one.isShown(at)]).toEqual(['9', true]);
  show('1');
  expect(read()).toBe('1');
});

test('an answer that comes after the watch is old news', () => {
  const { one, read } = begin('5');
  one.wrote(version('2'), '1');
  expect([read(), one.isShown(at)]).toEqual(['5', true]);
});

test('a write that changed nothing leaves the store to speak', () => {
  const { one, read, show } = begin('1');
  one.wrote(version('1'), '1');
  expect(one.isShown(at)).toBe(true);
  show(undefined);
  expect(read()).toBeUndefined();
});

test('the watch brings back our write as an echo, and what others wrote over it as news', () => {
  const { one, show } = begin('1');
  one.wrote(version('2'), '1');
  show('2');
  expect(one.isEcho(version('2'))).toBe(true);
  show('3');
  expect(one.isEcho(version('3'))).toBe(false);
});
