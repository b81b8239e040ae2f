// Kubernetes' own table of path matches (docs, Ingress, "Examples"), the precedence of hosts, and what a listener answers itself.
import { expect, test } from 'vitest';
import { answerByHost, checkHostRoutes } from './host-routes.ts';
import type { HostRoute } from './load-balancer.ts';

const at = (place: string, to: HostRoute['to'] = { pool: place }, more: Partial<HostRoute> = {}): HostRoute => {
  const [, kind, host = '', path = ''] = /^([ep]):([^/]*)([\s\S]*)$/.exec(place) ?? [];
  return { host, match: kind === 'e' ? 'exact' : 'prefix', path, to, ...more };
};

const ask = (hosts: HostRoute[], host: string, uri: string, client = '192.0.2.1') =>
  answerByHost({ hosts }, { client, uri, headers: host === '' ? [] : [['Host', host]] }, (pool) => pool !== 'dead');

const chosen = (places: string[], host: string, uri: string) => {
  const answer = ask(
    places.map((place) => at(place)),
    host,
    uri,
  );
  return 'pool' in answer ? answer.pool : answer.status;
};

test.each([
  ['p:', '/any', 'p:'],
  ['e:/foo', '/foo', 'e:/foo'],
  ['e:/foo', '/bar', 404],
  ['e:/foo', '/foo/', 404],
  ['e:/foo/', '/foo', 404],
  ['p:/foo', '/foo', 'p:/foo'],
  ['p:/foo', '/foo/', 'p:/foo'],
  ['p:/aaa/bb', '/aaa/bbb', 404],
  ['p:/aaa/bbb', '/aaa/bbb/', 'p:/aaa/bbb'],
  ['p:/aaa/bbb', '/aaa/bbb/ccc', 'p:/aaa/bbb'],
  ['p:/aaa/bbb', '/aaa/bbbxyz', 404],
  ['p: p:/aaa', '/aaa/ccc', 'p:/aaa'],
  ['p: p:/aaa p:/aaa/bbb', '/aaa/bbb', 'p:/aaa/bbb'],
  ['p: p:/aaa p:/aaa/bbb', '/ccc', 'p:'],
  ['p:/foo e:/foo', '/foo', 'e:/foo'],
  ['p:/foo', '/foo?a=/bar', 'p:/foo'],
])('with %s a request for %s falls to %s', (places, uri, wanted) => {
  expect(chosen(places.split(' '), 'a.domain.com', uri)).toBe(wanted);
});

test.each([
  ['bar.foo.com', 'p:*.foo.com'],
  ['BAR.foo.com:8080', 'p:*.foo.com'],
  ['baz.bar.foo.com', 'p:'],
  ['foo.com', 'p:'],
  ['own.foo.com', 'p:own.foo.com'],
  ['', 'p:'],
  ['[2001:db8::1]:80', 'p:'],
  ['own.foo.com/own', 'p:'],
])('host %s falls to %s: the one itself, then the wildcard of one label, then any', (host, wanted) => {
  expect(chosen(['p:', 'p:*.foo.com', 'p:own.foo.com', 'p:own.foo.com/own'], host, '/x')).toBe(wanted);
});

test('a host whose own paths do not match goes on to the wildcard and to any', () => {
  expect(chosen(['p:a.foo.com/own', 'p:*.foo.com/wild', 'e:/any'], 'a.foo.com', '/wild/1')).toBe('p:*.foo.com/wild');
  expect(chosen(['p:a.foo.com/own', 'p:*.foo.com/wild', 'e:/any'], 'a.foo.com', '/any')).toBe('e:/any');
});

test('redirects, rewrites, closed doors and dead pools', () => {
  const hosts = [
    at('p:a.com', { https: 443 }),
    at('p:b.com', { https: 8443 }),
    at('e:c.com/', { redirect: '/app' }),
    at('p:c.com/old', { pool: 'web', rewrite: { host: 'new.com', path: '/new/' } }),
    at('p:c.com/x', { pool: 'web', rewrite: { path: '/' } }),
    at('p:d.com', { pool: 'web' }, { clients: ['10.0.0.0/8', '2001:db8::/32'] }),
    at('p:e.com', { pool: 'dead' }),
  ];
  expect(ask(hosts, 'A.com:80', '/x?y=1')).toMatchObject({ status: 302, location: 'https://a.com/x?y=1' });
  expect(ask(hosts, 'b.com', '/')).toMatchObject({ location: 'https://b.com:8443/' });
  expect(ask(hosts, 'c.com', '/')).toMatchObject({ status: 302, location: '/app' });
  expect(ask(hosts, 'c.com', '/old/1?q')).toMatchObject({ pool: 'web', host: 'new.com', path: '/new/1?q' });
  expect(ask(hosts, 'c.com', '/x')).toMatchObject({ pool: 'web', path: '/' });
  expect(ask(hosts, 'd.com', '/')).toMatchObject({ status: 403 });
  expect(ask(hosts, 'd.com', '/', '10.1.2.3%4')).toMatchObject({ pool: 'web' });
  expect(ask(hosts, 'e.com', '/')).toMatchObject({ status: 503 });
});

test.each([
  ['p:a.com/"];exec'],
  ['p:a.com/$x'],
  ['p:a.com/{'],
  ['p:a.com/a|b'],
  ['p:a.com/a\nb'],
  ['p:a.com/slash/'],
  ['e:a.com'],
  ['p:A.com'],
  ['p:a_b.com'],
  ['p:*'],
  [`p:a.com${'/x'.repeat(70)}`],
])('%s is refused', (place) => {
  expect(checkHostRoutes([at(place)], 'hosts')).toMatchObject({
    ok: false,
    problem: { code: 'invalid', path: 'hosts[0]' },
  });
});

test('one host and path twice is refused, and so are bad targets', () => {
  expect(checkHostRoutes([at('p:a.com/x'), at('p:a.com/x')], 'hosts')).toMatchObject({ ok: false });
  expect(checkHostRoutes([at('p:', { redirect: '/a"b' })], 'hosts')).toMatchObject({ ok: false });
  expect(checkHostRoutes([at('p:', { pool: 'w', rewrite: { host: 'x y' } })], 'hosts')).toMatchObject({ ok: false });
  expect(checkHostRoutes([at('p:', { pool: 'w' }, { clients: ['nobody'] })], 'hosts')).toMatchObject({ ok: false });
  expect(checkHostRoutes([at('p:'), at('e:/')], 'hosts')).toMatchObject({ ok: true });
});
