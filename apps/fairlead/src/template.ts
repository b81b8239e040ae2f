// What @fairlead/as3 reads in a ConfigMap's template, as sources want it.
import { decode as decodeTemplate } from '@fairlead/as3';
import type { Decode } from '@fairlead/sources';

export const decode: Decode = (text) => decodeTemplate(text);
