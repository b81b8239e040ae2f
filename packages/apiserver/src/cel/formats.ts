// The named formats of Kubernetes' CEL: `format.dns1123Label().validate(text)` gives what is wrong with a text, if anything.
import { Optional, type Environment } from '@marcbachmann/cel-js';
import { dns1035Problems, labelProblems, labelValueProblems, qualifiedProblems, subdomainProblems } from '../names.ts';
import { formatProblem } from '../schema/format.ts';

type Problems = (text: string) => string[];

class Format {
  readonly problems: Problems;
  constructor(problems: Problems) {
    this.problems = problems;
  }
}

/** What `format` itself is. */
class Formats {
  named(name: string): Optional {
    const problems = Object.hasOwn(formats, name) ? formats[name] : undefined;
    return problems ? Optional.of(new Format(problems)) : Optional.none();
  }
}

/** A prefix may end with a dash, which a name made from it does not. */
const asPrefix =
  (problems: Problems): Problems =>
  (text) =>
    problems(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);

const simple =
  (name: string, why: string): Problems =>
  (text) =>
    formatProblem(text, name) ? [why] : [];

const formats: Record<string, Problems> = {
  dns1123Label: labelProblems,
  dns1123Subdomain: subdomainProblems,
  dns1035Label: dns1035Problems,
  qualifiedName: qualifiedProblems,
  dns1123LabelPrefix: asPrefix(labelProblems),
  dns1123SubdomainPrefix: asPrefix(subdomainProblems),
  dns1035LabelPrefix: asPrefix(dns1035Problems),
  labelValue: labelValueProblems,
  uri: (text) => (formatProblem(text, 'uri') ? [`parse ${JSON.stringify(text)}: invalid URI for request`] : []),
  uuid: simple('uuid', 'does not match the UUID format'),
  byte: simple('byte', 'invalid base64'),
  date: simple('date', 'invalid date'),
  datetime: simple('date-time', 'invalid datetime'),
};

const [one, all] = ['kubernetes.NamedFormat', 'kubernetes.NamedFormats'];

export function addFormats(environment: Environment): void {
  environment
    .registerType(one, { ctor: Format, fields: {} })
    .registerType(all, { ctor: Formats, fields: {} })
    .registerConstant('format', all, new Formats())
    .registerFunction(`${all}.named(string): optional<${one}>`, (self: Formats, name: string) => self.named(name))
    .registerFunction(`${one}.validate(string): optional<list<string>>`, ({ problems }: Format, text: string) => {
      const found = problems(text);
      return found.length > 0 ? Optional.of(found) : Optional.none();
    });
  for (const [name, problems] of Object.entries(formats))
    environment.registerFunction(`${all}.${name}(): ${one}`, () => new Format(problems));
}
