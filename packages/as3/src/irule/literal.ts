// User text in a rule: the only way in. AS3 puts a rule raw between braces into a script that runs with administrator
// rights, so one brace that does not balance, and not only a quote, would run what follows (spec as3.md §7.1).

/** Characters that mean nothing to Tcl in double quotes, nor to one who counts braces, nor to AS3. */
const plain = /[A-Za-z0-9 _./:,=@%+*?!^()|&~-]/;

/**
 * `text` as one Tcl word in double quotes. Every other character is written `\uXXXX` with four digits, so no quote,
 * bracket, brace, dollar, backslash, backquote, semicolon, hash or line end of the user's stands in the rule.
 */
export function literal(text: string): string {
  const characters = text
    .split('')
    .map((character) =>
      plain.test(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  return `"${characters.join('')}"`;
}

/** Text that a data-group's key may have: it never needs an escape, whoever writes the key down. */
export const isPlain = (text: string): boolean => /^[A-Za-z0-9_./:,=@%+*?!()|&~-]+$/.test(text);
