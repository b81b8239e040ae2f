import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { dataDir } from './data-dir.ts';
import { kubeconfig } from './kubeconfig.ts';
import { choosePorts, preferredPorts } from './ports.ts';
import { slots, takeSlot } from './slot.ts';

test('the kubeconfig has a context for each cluster, the first of them current', () => {
  const got = parse(
    kubeconfig([
      { name: 'management', server: 'http://127.0.0.1:1', token: 't', ca: 'x' },
      { name: 'b', server: 'http://127.0.0.1:2', token: 'u', ca: 'x' },
    ]),
  );
  expect(got['current-context']).toBe('management');
  expect(got.contexts.map((c: { name: string }) => c.name)).toEqual(['management', 'b']);
});

test('secrets and ports are made once and kept', async () => {
  const dir = dataDir('', true);
  expect(dir.secret('token')).toBe(dir.secret('token'));
  const first = await choosePorts(dir, { a: 0, b: 0 });
  expect(new Set(Object.values(first)).size).toBe(2);
  expect(await choosePorts(dir, { a: 0, b: 0 })).toEqual(first);
  dir.close();
});

test('environments that start in the same moment want different ports, and the first has those of the pages', () => {
  const wanted = Array.from({ length: slots }, (_, number) => Object.values(preferredPorts(number))).flat();
  expect(new Set(wanted).size).toBe(6 * slots);
  expect(preferredPorts(0)).toMatchObject({ ve: 8443, metrics: 8480 });
});

test('two environments hold different slots, and a released one is free again', async () => {
  const [a, b] = [await takeSlot(), await takeSlot()];
  expect(b.number).toBeGreaterThan(a.number);
  expect(b.podCidr(1)).not.toBe(a.podCidr(1));
  await a.release();
  const again = await takeSlot();
  expect(again.number).toBe(a.number);
  await again.release();
  await b.release();
});
