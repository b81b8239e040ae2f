import { expect, test } from 'vitest';
import { structure } from './structure.ts';

test('a rule is read down to the pools and data-groups it names, wherever they stand', () => {
  const text = `# a comment with a { that does not count } as code
priority 400
proc pick {name} { pool $name }
when HTTP_REQUEST priority 500 {
    if { [class match -- [HTTP::host] equals /t1/app/hosts] } {
        pool one
    } elseif { $x eq "{}" } { pool /t1/app/two } else { foreach y $z { pool three } }
    for {set i 0} {$i < 3} {incr i} { pool four }
    while {1} { break }
    catch { pool five }
    set quoted "a [string length "b ]"] c"
    pool $chosen
}
when CLIENT_ACCEPTED { pool one ; pool "six" }
`;
  expect(structure(text)).toEqual({
    ok: true,
    value: {
      events: ['HTTP_REQUEST', 'CLIENT_ACCEPTED'],
      pools: ['one', '/t1/app/two', 'three', 'four', 'five', 'six'],
      lists: ['/t1/app/hosts'],
    },
  });
});

test.each([
  ['', 'empty'],
  ['# nothing', 'has no "when'],
  ['when HTTP_REQUEST {', 'line 1 of the rule: the braces do not balance'],
  ['when HTTP_REQUEST {\n}\n}\nexec rm -rf /', 'line 3 of the rule: the braces do not balance'],
  ['when HTTP_REQUEST {\n # a comment }\n}', 'line 3 of the rule: the braces do not balance'],
  ['when HTTP_REQUEST {\n}\nexec rm -rf /', 'line 3 of the rule: "exec" stands outside'],
  ['when HTTP_REQUEST {\n set x "a\n}', 'line 2 of the rule: this quote is not closed'],
  ['when HTTP_REQUEST {\n if { 1 } {\n set x [y\n }\n}', 'line 3 of the rule: this bracket is not closed'],
  ['when HTTP_REQUEST {\n if { 1 } {\n }\n else {\n }\n}', 'line 4 of the rule: "else" has to stand on the line'],
])('%j is refused: %s', (text, why) => {
  expect(structure(text)).toMatchObject({ ok: false, problem: { message: expect.stringContaining(why) as unknown } });
});
