// What the device's Tcl makes of rules: F5's words, the order of rules, what is refused, and hostile text.
import { afterAll, expect, test } from 'vitest';
import { tclRunner } from './runner.ts';

const runner = tclRunner({ limit: 300 });
afterAll(() => runner.close());

const pools = [
  '/T/A/yes',
  '/T/A/no',
  '/T/A/svc01_8080_pool',
  '/T/A/svc02_8080_pool',
  '/T/A/svc03_8080_pool',
  '/T/A/svc04_8080_pool',
];
const dataGroups = [
  {
    name: '/T/A/nets',
    type: 'ip' as const,
    records: [
      { name: '10.0.0.0/8', data: 'ten' },
      { name: '10.1.0.0/16', data: 'ten-one' },
      { name: '2001:db8::/32', data: 'six' },
    ],
  },
  {
    name: '/T/A/paths',
    type: 'string' as const,
    records: [
      { name: '/a', data: '1' },
      { name: '/b/c', data: '2' },
    ],
  },
  {
    name: '/T/A/odd',
    type: 'string' as const,
    records: [
      { name: '0100', data: '007' },
      { name: '0x10', data: '' },
    ],
  },
  { name: '/T/A/hostile', type: 'string' as const, records: [{ name: '"]; exec rm -rf /; [', data: '$x}{' }] },
];
const rule = (text: string) => [{ name: '/T/A/r', text }];
const request = {
  clientAddress: '10.1.2.3',
  uri: '/a/b.html?x=1&y=a%20b',
  headers: [
    ['Host', 'A.domain.com:80'],
    ['Cookie', 'one=1; two=2; odd=0100'],
    ['X', 'first'],
    ['x', 'last'],
  ] as [string, string][],
};

const truths: [condition: string, truth: boolean][] = [
  ['"abc" equals "abc"', true],
  ['"abc" equals "ABC"', false],
  ['"abc" contains "b"', true],
  ['"abc" contains {[b]}', false],
  ['"abc" starts_with "ab"', true],
  ['"abc" starts_with "a*"', false],
  ['"abc" ends_with "bc"', true],
  ['"bc" ends_with "abc"', false],
  ['"abc" matches_glob "a*"', true],
  ['"abc" matches_regex {^a.c$}', true],
  ['not ("abc" contains "b")', false],
  ['not ("abc" contains "z") and "x" equals "x"', true],
  ['1 and 0 or 1', true],
  ['1 or 0 and 0', true],
  ['1 + 1 == 2 and "a" eq "a"', true],
  ['"a" eq "b" || [string length "abc"] > 2', true],
  ['[HTTP::host] equals "A.domain.com:80"', true],
  ['[string tolower [getfield [HTTP::host] ":" 1]] equals "a.domain.com"', true],
  ['[HTTP::header value X] equals "last"', true],
  ['[llength [HTTP::header values X]] == 2', true],
  ['[HTTP::header exists "content-length"]', false],
  ['[HTTP::path] ends_with ".html" and [HTTP::query] starts_with "x="', true],
  ['[URI::decode [URI::query [HTTP::uri] y]] equals "a b"', true],
  ['[URI::query [HTTP::uri] z] equals ""', true],
  ['[HTTP::cookie exists two] and [HTTP::cookie value two] == 2', true],
  ['[HTTP::cookie exists three]', false],
  ['[HTTP::cookie value odd] eq "0100"', true],
  ['[HTTP::cookie names] eq "one two odd"', true],
  ['[class match -name "0x10" equals /T/A/odd] eq "0x10"', true],
  ['[class match -value "0100" equals /T/A/odd] eq "007"', true],
  ['[URI::query "/?n=1e2" n] eq "1e2"', true],
  ['[IP::addr [IP::client_addr] equals 10.1.0.0/16]', true],
  ['[IP::addr [IP::client_addr]/24 equals 10.1.3.0]', false],
  ['[IP::addr [IP::client_addr] mask 255.255.0.0] equals "10.1.0.0"', true],
  ['[class match [IP::client_addr] equals /T/A/nets]', true],
  ['[class match -value [IP::client_addr] equals nets] equals "ten-one"', true],
  ['[class match 2001:db8:1::5 equals nets]', true],
  ['[class match 192.0.2.1 equals nets]', false],
  ['[class match [HTTP::uri] starts_with paths]', true],
  ['[class match -name [HTTP::uri] starts_with paths] equals "/a"', true],
  ['[class search paths starts_with "/b"]', true],
  ['[class lookup "/b/c" paths] == 2', true],
  ['[crc32 "10.0.0.1"] < 0 || [expr {0xffffffff & [crc32 "10.0.0.1"]}] >= 0', true],
  ['[active_members /T/A/yes] == 1', true],
  ['[getfield "a::b" "::" 2] equals "b"', true],
  ['[findstr "id=12;x" "id=" 3 ";"] equals "12"', true],
  ['[substr "abcdef" 2 3] equals "cde"', true],
  ['[domain "www.a.b.com" 2] equals "b.com"', true],
  ['[b64decode [b64encode "é]"]] equals "é]"', true],
];

test.each(truths)('%s is %s', async (condition, truth) => {
  const text = `when HTTP_REQUEST {\n if { ${condition} } { pool yes } else { pool no }\n}`;
  expect(await runner.load(rule(text), { pools, dataGroups })).toMatchObject({ errors: [] });
  expect(await runner.run('HTTP_REQUEST', request)).toMatchObject({ pool: truth ? '/T/A/yes' : '/T/A/no' });
});

const refusals: [rule: string, line: number, message: string][] = [
  ['when HTTP_REQUEST { pool yes', 1, 'missing close-brace'],
  ['when HTTP_REQUEST {\n pool absent }', 2, 'Unable to find pool (absent) referenced at line 2: [pool absent]'],
  ['when HTTP_REQUEST { pool /T/B/yes }', 1, 'Unable to find pool (/T/B/yes)'],
  ['when HTTP_REQUEST { class match x equals absent }', 1, 'Unable to find value_list (absent)'],
  ['when HTTP_REQUEST { } \n exec rm -rf /', 2, 'command is not valid in the current scope'],
  ['when HTTP_REQUEST {\n\n exec rm }', 3, 'undefined procedure: exec'],
  ['when HTTP_REQUEST { set a [open /etc/passwd] }', 1, 'undefined procedure: open'],
  ['when HTTP_REQUEST { if { [socket a 1] equals "x" } { } }', 1, 'undefined procedure: socket'],
  ['when HTTP_REQUEST { dict set a b c }', 1, 'undefined procedure: dict'],
  ['when HTTP_REQUEST { lassign {1 2} a b }', 1, 'undefined procedure: lassign'],
  ['when HTTP_REQUEST { eval {*}$x }', 1, 'extra characters after close-brace'],
  ['when HTTP_REQUEST { if {1 in {1 2}} {} }', 1, 'not in Tcl 8.4'],
  ['when HTTP_REQUEST { if { [HTTP::host] equls "x" } {} }', 1, 'syntax error in expression'],
  ['when CLIENT_ACCEPTED { pool [HTTP::host] }', 1, 'not valid in current event context (CLIENT_ACCEPTED)'],
  ['when SOMETHING { pool yes }', 1, 'invalid event name'],
  ['when HTTP_REQUEST { if {1} { pool yes }\n else { pool no } }', 2, 'undefined procedure: else'],
  ['when HTTP_REQUEST { HTTP::collect 10 }', 1, 'this simulator does not carry HTTP::collect'],
  ['when HTTP_REQUEST { while {1} {} {} }', 1, 'wrong # args'],
  ['when HTTP_REQUEST { if {1} {} else {} {} }', 1, 'extra words after "else"'],
  ['when LB_SELECTED {}\nwhen CLIENT_DATA {}', 2, 'this simulator does not fire CLIENT_DATA'],
  ['', 1, 'the rule is empty'],
];

test.each(refusals)('refuses %j', async (text, line, message) => {
  const { errors } = await runner.load(rule(text), { pools, dataGroups });
  expect(errors).toEqual([{ rule: '/T/A/r', line, message: expect.stringContaining(message) }]);
});

const canary = `when HTTP_REQUEST { \n if {[HTTP::host] equals "a.domain.com" or ([HTTP::header exists "Content-Length"] and ([HTTP::header values "Content-Length"] equals 10 or ([HTTP::header values "Content-Length"] >= 100 and [HTTP::header values "Content-Length"] <= 1000)))} { \n if {[expr {[expr {0xffffffff & [crc32 [IP::client_addr]]}] % 100}] < 90} { \n pool svc03_8080_pool  \n } else {  \n pool svc04_8080_pool \n } \n } \n }`;
const weights = `when HTTP_REQUEST { \n if {[expr {[expr {0xffffffff & [crc32 [IP::client_addr]]}] % 100}] < 60} { \n pool svc01_8080_pool \n } else { \n pool svc02_8080_pool \n } \n }`;
const short = (pool: string | undefined) => pool?.slice(5, 10);

test("in the seed's order the last pool wins, so its canary gets nothing", async () => {
  await runner.load(
    [
      { name: '/T/A/canary', text: canary },
      { name: '/T/A/weights', text: weights },
    ],
    { pools },
  );
  const rows: [string, [string, string][], string[]][] = [
    ['192.0.2.1', [['Host', 'a.domain.com']], ['svc03', 'svc01']],
    ['192.0.2.1', [['Content-Length', '10']], ['svc03', 'svc01']],
    ['192.0.2.1', [['Content-Length', '500']], ['svc03', 'svc01']],
    ['192.0.2.2', [['Host', 'a.domain.com']], ['svc03', 'svc02']],
    ['192.0.2.1', [['Content-Length', '5000']], ['svc01']],
    ['192.0.2.1', [], ['svc01']],
  ];
  for (const [clientAddress, headers, chosen] of rows) {
    const outcome = await runner.run('HTTP_REQUEST', { clientAddress, headers });
    expect(outcome.chosen.map(short)).toEqual(chosen);
    expect(short(outcome.pool)).toBe(chosen.at(-1));
  }
});

test('turned round, five thousand clients split by the weights of the canary', async () => {
  await runner.load(
    [
      { name: '/T/A/weights', text: weights },
      { name: '/T/A/canary', text: canary },
    ],
    { pools },
  );
  const counts: Record<string, number> = {};
  const clients = Array.from({ length: 5000 }, (_, i) => `10.${(i * 7) % 250}.${(i * 13) % 250}.${i % 250}`);
  const outcomes = await Promise.all(
    clients.map((clientAddress) => runner.run('HTTP_REQUEST', { clientAddress, headers: [['Host', 'a.domain.com']] })),
  );
  for (const { pool } of outcomes) counts[short(pool) ?? ''] = (counts[short(pool) ?? ''] ?? 0) + 1;
  expect(Object.keys(counts).sort()).toEqual(['svc03', 'svc04']);
  expect((counts['svc03'] ?? 0) / 5000).toBeCloseTo(0.9, 1);
});

test('handlers run by priority, equal ones in the order of the list', async () => {
  const log = (name: string, priority = '') => ({
    name: `/T/A/${name}`,
    text: `when HTTP_REQUEST ${priority} { log local0. ${name} }`,
  });
  await runner.load([log('c'), log('d'), log('a', 'priority 100'), log('e', 'priority 900')], { pools });
  expect((await runner.run('HTTP_REQUEST', request)).log).toEqual(['a', 'c', 'd', 'e']);
});

test('variables live as long as the connection, and are shared by its rules', async () => {
  await runner.load(
    [
      { name: '/T/A/one', text: 'when CLIENT_ACCEPTED { set n 5; set a(x) 1; return }' },
      { name: '/T/A/two', text: 'when HTTP_REQUEST { incr n; log local0. "$n $a(x)" }' },
    ],
    { pools },
  );
  await runner.run('CLIENT_ACCEPTED', { ...request, connection: 'c1' });
  expect((await runner.run('HTTP_REQUEST', { ...request, connection: 'c1' })).log).toEqual(['6 1']);
  expect((await runner.run('HTTP_REQUEST', { ...request, connection: 'c1' })).log).toEqual(['7 1']);
  expect((await runner.run('HTTP_REQUEST', request)).error).toMatch(/can't read "a\(x\)"|no such variable/);
});

test('event disable all switches later rules off for the rest of the connection', async () => {
  await runner.load(
    [
      {
        name: '/T/A/one',
        text: 'when HTTP_REQUEST { if { [HTTP::uri] equals "/b" } { pool yes; event disable all } }',
      },
      { name: '/T/A/two', text: 'when HTTP_REQUEST { pool no }' },
    ],
    { pools },
  );
  const pool = async (uri: string) =>
    (await runner.run('HTTP_REQUEST', { clientAddress: '10.0.0.1', uri, connection: 'k' })).pool;
  expect([await pool('/a'), await pool('/b'), await pool('/a')]).toEqual(['/T/A/no', '/T/A/yes', undefined]);
});

test('procs are called by name, and across rules by path', async () => {
  await runner.load(
    [
      {
        name: '/T/A/lib',
        text: 'proc twice {x} { return [expr {$x * 2}] }\nwhen HTTP_REQUEST { log local0. [call twice 4] }',
      },
      { name: '/T/A/two', text: 'when HTTP_REQUEST { log local0. [call /T/A/lib::twice 5] }' },
    ],
    { pools },
  );
  expect((await runner.run('HTTP_REQUEST', request)).log).toEqual(['8', '10']);
});

test('an expression made at run time is read with the same words', async () => {
  await runner.load(
    rule('when HTTP_REQUEST { set e {"abc" contains "b" and 1}; if $e { pool yes }; log local0. [expr "2 + 3"] }'),
    { pools },
  );
  expect(await runner.run('HTTP_REQUEST', request)).toMatchObject({ pool: '/T/A/yes', log: ['5'] });
});

test('bodies inside foreach, switch, while and catch are read too', async () => {
  const text = `when HTTP_REQUEST {
    foreach x {1 2 3} { if { $x equals 2 } { log local0. two } }
    switch -glob -- [HTTP::uri] {
      "/a*" { if { [HTTP::host] contains "domain" } { pool yes } }
      default { pool no }
    }
    set i 0
    while { $i < 3 and not ($i equals 2) } { incr i }
    catch { if { "a" starts_with "a" } { log local0. "i $i" } }
  }`;
  await runner.load(rule(text), { pools });
  expect(await runner.run('HTTP_REQUEST', request)).toMatchObject({ pool: '/T/A/yes', log: ['two', 'i 2'] });
});

const hostile = [
  '"]; exec rm -rf /; [',
  '$x}{',
  '[exit]',
  '}\nexit\n',
  'a\tb\\n',
  '\u0000',
  'ünïcode \u{1f600}',
  '{',
  '\\',
];

test.each(hostile)('text from outside stays data: %j', async (text) => {
  await runner.load(
    rule(
      'when HTTP_REQUEST { log local0. "[HTTP::header value X] [HTTP::uri]"; if { [HTTP::header value X] equals "q" } { pool yes } else { pool no } }',
    ),
    { pools },
  );
  expect(
    await runner.run('HTTP_REQUEST', { clientAddress: '10.0.0.1', uri: text, headers: [['X', text]] }),
  ).toMatchObject({ pool: '/T/A/no', log: [`${text} ${text}`] });
});

test('a record of hostile text matches itself and nothing else happens', async () => {
  await runner.load(rule('when HTTP_REQUEST { log local0. [class match -value [HTTP::uri] equals hostile] }'), {
    pools,
    dataGroups,
  });
  expect(await runner.run('HTTP_REQUEST', { clientAddress: '10.0.0.1', uri: '"]; exec rm -rf /; [' })).toMatchObject({
    log: ['$x}{'],
  });
});

test('commands absent on the device do not exist when a rule builds them at run time', async () => {
  for (const command of [
    'exec',
    'open',
    'socket',
    'file',
    'source',
    'load',
    'glob',
    'pwd',
    'cd',
    'exit',
    'dict',
    'interp',
    'proc',
    'rename',
    'after',
    'vwait',
  ]) {
    await runner.load(rule(`when HTTP_REQUEST { set c ${command}; $c a b }`), { pools });
    expect((await runner.run('HTTP_REQUEST', request)).error).toContain(`invalid command name "${command}"`);
  }
});

test('an endless rule is stopped and the next request is answered', async () => {
  await runner.load(
    rule('when HTTP_REQUEST { if { [HTTP::uri] equals "/loop" } { while {1} { catch { set x 1 } } }; pool yes }'),
    { pools },
  );
  const loop = runner.run('HTTP_REQUEST', { clientAddress: '10.0.0.1', uri: '/loop' });
  const next = runner.run('HTTP_REQUEST', { clientAddress: '10.0.0.1', uri: '/' });
  expect((await loop).error).toContain('time limit exceeded');
  expect((await next).pool).toBe('/T/A/yes');
});

test('a rule that kills the interpreter fails alone: it is started anew and answers the rest', async () => {
  await runner.load(
    rule('when HTTP_REQUEST { if { [HTTP::uri] equals "/big" } { binary format a2000000000 x }; pool yes }'),
    { pools },
  );
  const big = runner.run('HTTP_REQUEST', { clientAddress: '10.0.0.1', uri: '/big' });
  const next = runner.run('HTTP_REQUEST', { clientAddress: '10.0.0.1', uri: '/' });
  expect((await big).error).toContain('the iRule interpreter ended on it');
  expect((await next).pool).toBe('/T/A/yes');
});

test('a missing interpreter says what to install', async () => {
  const lost = tclRunner({ command: '/nowhere/tclsh' });
  await expect(lost.load(rule(weights), { pools })).rejects.toThrow('apt-get install tcl');
  await lost.close();
});

test('responses, headers and logs come back in order', async () => {
  await runner.load(
    rule(
      'when HTTP_REQUEST { HTTP::header insert A 1; HTTP::header replace Host b; HTTP::header remove X; HTTP::respond 503 content "no {luck}" Retry-After 5 }',
    ),
    { pools },
  );
  const { response, effects } = await runner.run('HTTP_REQUEST', request);
  expect(response).toEqual({ status: 503, headers: [['Retry-After', '5']], content: 'no {luck}' });
  expect(effects.map((effect) => effect.verb)).toEqual(['header-insert', 'header-replace', 'header-remove', 'respond']);
});
