// Values for the tests that hold Tcl against JavaScript: plain ones, odd ones, and such as want to be more than data.
export const hostile = [
  '"]; exec rm -rf /; [',
  '}; exec id; {',
  '$env(HOME)',
  '${fl_pool}',
  '[exit 1]',
  '\\',
  '\\"',
  '`=x`',
  '{',
  '}{',
  '#',
  ';',
  '*',
  '?',
  '-',
  '--',
];
/** Numbers to Tcl, and to nobody else. */
const oddNumbers = ['0100', '0x64', '1e2', '007'];
export const words = [
  'a',
  'ab',
  'beta',
  'a.domain.com',
  'A.Domain.com',
  '2',
  '10',
  '100',
  '-5',
  ...oddNumbers,
  ...hostile,
];
export const regexps = [
  '^a',
  'b$',
  '[0-9]+',
  '^(?:ab|be)',
  String.raw`\.`,
  String.raw`\s`,
  String.raw`["\]\[$]`,
  '^[^a]*$',
  'a{1,2}',
  String.raw`^\w+$`,
];
