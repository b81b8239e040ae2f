// Services: combinations that AS3 takes and the device refuses, and certificates that are none.
import type { Problem } from '@fairlead/core';
import { listOf, type Placed, type Scene } from './scene.ts';

export function serviceProblems({ objects }: Scene): Problem[] {
  return objects.flatMap((placed) => {
    if (placed.object.class.startsWith('Service_')) return [...ofService(placed), ...duplicates(placed)];
    return placed.object.class === 'Certificate' ? ofCertificate(placed) : [];
  });
}

function ofService({ object, path }: Placed): Problem[] {
  const problems: Problem[] = [];
  const refuse = (message: string, at: string) => problems.push({ code: 'invalid', message, path: `${path}/${at}` });
  const isHttp = object.class === 'Service_HTTP' || object.class === 'Service_HTTPS';
  const isKnown = isHttp || object.class === 'Service_TCP' || object.class === 'Service_UDP';
  if (isKnown && !isHttp && listOf(object['persistenceMethods']).includes('cookie'))
    refuse(`${object.class} has no HTTP profile, so no cookie persistence`, 'persistenceMethods');
  if (isKnown && object['persistenceMethods'] === undefined)
    refuse('left out, persistence is not none but AS3 picks one; write [] for none', 'persistenceMethods');
  if (object.class === 'Service_HTTPS' && object['serverTLS'] === undefined)
    refuse('without serverTLS this port speaks plain HTTP', 'serverTLS');
  const { virtualPort } = object;
  const isPort =
    typeof virtualPort === 'number' && Number.isInteger(virtualPort) && virtualPort >= 0 && virtualPort <= 65535;
  if (typeof virtualPort === 'number' && !isPort) refuse('a port is 0 to 65535', 'virtualPort');
  return problems;
}

function duplicates({ object, path }: Placed): Problem[] {
  return ['iRules', 'persistenceMethods'].flatMap((list) => {
    const texts = listOf(object[list]).map((each) => JSON.stringify(each));
    return texts.flatMap((text, i) =>
      texts.indexOf(text) < i
        ? [{ code: 'invalid' as const, message: `${text} is there twice`, path: `${path}/${list}/${i}` }]
        : [],
    );
  });
}

function ofCertificate({ object, path }: Placed): Problem[] {
  return ['certificate', 'privateKey'].flatMap((word) => {
    const text = object[word];
    if (typeof text !== 'string' || /^-----BEGIN [A-Z ]+-----\n[\s\S]+\n-----END [A-Z ]+-----\s*$/.test(text))
      return [];
    return [{ code: 'invalid' as const, message: 'no PEM text; is the Secret filled in?', path: `${path}/${word}` }];
  });
}
