// The OpenAPI v2 document in protobuf, as far as clients need it: which kinds take which query parameters.
// kubectl asks for it, in this form alone, for kinds it does not find in the v3 documents. Numbers are those of openapi/v2 in gnostic.
import { isTree, listOf, textOf, treeOf, type Tree } from './object.ts';

const methods: Record<string, number> = { get: 2, put: 3, post: 4, delete: 5, patch: 8 };

/** `document` is the v2 document as JSON; its definitions are left out. */
export function openApiBinary(document: Tree): Uint8Array<ArrayBuffer> {
  const info = treeOf(document.info);
  const paths = Object.entries(treeOf(document.paths)).map(([path, item]) =>
    field(2, join(text(1, path), field(2, pathItem(treeOf(item))))),
  );
  return new Uint8Array(
    join(
      text(1, textOf(document.swagger)),
      field(2, join(text(1, textOf(info.title)), text(2, textOf(info.version)))),
      field(8, join(...paths)),
    ),
  );
}

function pathItem(item: Tree): Buffer {
  const operations = Object.entries(methods).flatMap(([method, number]) =>
    isTree(item[method]) ? [field(number, operation(item[method]))] : [],
  );
  return join(...operations);
}

function operation(item: Tree): Buffer {
  const parameters = listOf(item.parameters)
    .map(treeOf)
    .filter((parameter) => parameter.in === 'query');
  const extensions = Object.entries(item).filter(([name]) => name.startsWith('x-'));
  return join(
    text(5, textOf(item.operationId)),
    ...parameters.map((parameter) =>
      field(
        8,
        field(1, field(2, field(3, join(text(2, 'query'), text(4, textOf(parameter.name)), text(6, 'string'))))),
      ),
    ),
    // JSON is YAML, which is how an extension's value travels.
    ...extensions.map(([name, value]) => field(13, join(text(1, name), field(2, text(2, JSON.stringify(value)))))),
  );
}

const join = (...parts: Buffer[]): Buffer => Buffer.concat(parts);
const text = (number: number, value: string): Buffer => field(number, Buffer.from(value));
const field = (number: number, bytes: Buffer): Buffer => join(varint(number * 8 + 2), varint(bytes.length), bytes);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}
