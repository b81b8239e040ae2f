// Shell completion, made from the command tree so that it never lags behind it.
import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A script for `shell` that completes commands and options of `program`. */
export function completion(program: Command, shell: Shell): string {
  const words = wordsOf(program, []);
  if (shell === 'fish') return fish(program.name(), words);
  const cases = words
    .map(({ path, words: list }) => `    '${path.join(' ')}') words='${list.join(' ')}' ;;`)
    .join('\n');
  const body = `_${program.name()}() {
  local path='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case $path in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -F _${program.name()} ${program.name()}
`;
  return shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${body}` : body;
}

function wordsOf(command: Command, path: string[]): { path: string[]; words: string[] }[] {
  const words = [
    ...command.commands.map((c) => c.name()),
    ...command.options.flatMap((o) => (o.long ? [o.long] : [])),
    '--help',
  ];
  return [{ path, words }, ...command.commands.flatMap((c) => wordsOf(c, [...path, c.name()]))];
}

function fish(name: string, words: { path: string[]; words: string[] }[]): string {
  const lines = words.flatMap(({ path, words: list }) => {
    const condition =
      path.length === 0 ? '__fish_use_subcommand' : path.map((p) => `__fish_seen_subcommand_from ${p}`).join('; and ');
    return list.map((word) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `complete -c ${name} -n '${condition}' ${what}`;
    });
  });
  return `${lines.join('\n')}\n`;
}
